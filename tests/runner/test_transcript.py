"""Writing a transcript: whole, private, and never over another."""

import json
import stat

import pytest

from app.runner.quorum import Answer
from app.runner.transcript import Round, Transcript, write_transcript

ANSWER = Answer("SELECT 'é'", ("a",), (), None, 0.5)
DONE = Transcript(
    model="test:test",
    started_at="2026-01-02T03:04:05+00:00",
    question_sha256="0" * 64,
    outcome="consensus",
    output={"sql": "SELECT 'é'"},
    questions=(),
    rounds=(Round(1, ("a",), (), "1" * 64, (ANSWER,), {"outcome": "consensus"}, 0.6),),
    seconds=0.7,
)


def test_transcript_is_read_back_as_it_was(tmp_path):
    path = tmp_path / "t.json"
    write_transcript(DONE, path)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read["rounds"][0]["answers"][0]["sql"] == "SELECT 'é'"
    assert read["rounds"][0]["decision"] == {"outcome": "consensus"}
    assert read["output"] == {"sql": "SELECT 'é'"}
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_transcript_is_never_written_over_another(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("first")
    with pytest.raises(FileExistsError):
        write_transcript(DONE, path)
    assert path.read_text() == "first"
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]


def test_transcript_that_cannot_be_json_leaves_nothing_behind(tmp_path):
    broken = Transcript(**{f: getattr(DONE, f) for f in Transcript.__slots__} | {"output": {"sql": object()}})
    with pytest.raises(TypeError):
        write_transcript(broken, tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []
