"""`agreement-log consensus context`, as a person calls it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app

VAULT = str(Path(__file__).parents[2] / "examples/vault")


def call(*arguments):
    return CliRunner().invoke(app, ["consensus", "context", *arguments])


def test_context_prints_the_block_and_nothing_else():
    result = call("--vault", VAULT, "orders.net_revenue")
    assert result.exit_code == 0
    assert result.stdout.startswith("# Context\n")
    assert "- default filter: `shop.orders.status = 'completed'`\n" in result.stdout
    assert result.stderr == ""


def test_context_as_json_has_the_parts():
    result = call("--vault", VAULT, "--json", "sales")
    block = json.loads(result.stdout)
    assert [view["restricted_columns"] for view in block["views"]] == [["email", "birth_date"], ["internal_margin"]]
    assert block["relations"][0]["join_sql"] == "shop.orders.customer_id = shop.customers.customer_id"


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("--vault", VAULT, "sale"), "vault: the vault has no note [[sale]]; did you mean [[sales]]"),
        (("--vault", "nowhere", "sales"), "vault: nowhere is not a folder"),
        (("--vault", VAULT), "Missing argument"),
    ],
    ids=["unknown name", "no folder", "no name"],
)
def test_context_refused_says_why_on_standard_error(arguments, match):
    result = call(*arguments)
    assert result.exit_code == 2
    assert match in result.stderr
    assert result.stdout == ""


def test_context_names_file_and_line_of_a_faulty_note(tmp_path):
    (tmp_path / "orders.md").write_text("---\ntype: view\ntabel: shop.orders\n---\n")
    result = call("--vault", str(tmp_path), "orders")
    assert (result.exit_code, result.stderr) == (
        2,
        "vault: orders.md, line 3: `tabel` is no key; did you mean `table`?\n",
    )
