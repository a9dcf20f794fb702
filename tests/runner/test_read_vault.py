"""Reading the folder of a vault."""

import os

import pytest

from app.core.consensus.vault_errors import VaultError
from app.runner.read_vault import MAX_BYTES, UnreadableVault, read_vault


def test_folder_is_read_with_hidden_and_other_files_left_out(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / "a/x.md").write_bytes(b"\xef\xbb\xbf---\r\n")
    (tmp_path / "Y.MD").write_text("y")
    (tmp_path / ".obsidian/z.md").write_text("z")
    (tmp_path / "data.csv").write_text("1")
    assert read_vault(tmp_path) == {"Y.MD": "y", "a/x.md": "---\r\n"}


def test_link_to_a_folder_above_is_not_followed(tmp_path):
    (tmp_path / "x.md").write_text("x")
    (tmp_path / "up").symlink_to(tmp_path)
    assert list(read_vault(tmp_path)) == ["x.md"]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"\xff\xfe", r"x\.md is not UTF-8 \(byte 0\)"),
        (b"x" * (MAX_BYTES + 1), "longer than"),
        (None, "has no .md files"),
    ],
    ids=["encoding", "size", "empty"],
)
def test_folder_that_cannot_be_read_is_named(tmp_path, content, match):
    if content is not None:
        (tmp_path / "x.md").write_bytes(content)
    with pytest.raises(UnreadableVault, match=match):
        read_vault(tmp_path)


def test_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(VaultError, match="gone is not a folder"):
        read_vault(tmp_path / "gone")


def test_pipe_in_the_folder_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.md")
    with pytest.raises(UnreadableVault, match="not a regular file"):
        read_vault(tmp_path)
