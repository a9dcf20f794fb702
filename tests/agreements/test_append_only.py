"""The database is the law: as the service's own login, over raw SQL, nothing that was written can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from app.agreements.table import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

FILLABLE = {
    "human_verdict": "merge",
    "human_reason": "because",
    "agreement": "true_pass",
    "human_review_latency": "12.50",
    "reviewed_by": "ada",
    "reviewed_at": "2026-01-01T00:00:00Z",
    "proposal_to_merge_diff": '{"n": 1.50}',
    "pr_id": "7",
    "merged_at": "2026-01-02T00:00:00Z",
    "post_merge_outcome": "held",
    "outcome_by": "verifier",
    "outcome_at": "2026-01-03T00:00:00Z",
}
OTHER = {
    "human_verdict": "revise",
    "human_reason": "because ",
    "agreement": "false_pass",
    "human_review_latency": "12.5",  # the same number, written otherwise
    "reviewed_by": "grace",
    "reviewed_at": "2026-01-01T00:00:01Z",
    "proposal_to_merge_diff": '{"n": 1.5}',  # the same number, written otherwise
    "pr_id": "8",
    "merged_at": "2026-01-02T00:00:01Z",
    "post_merge_outcome": "regressed",
    "outcome_by": "somebody",
    "outcome_at": "2026-01-03T00:00:01Z",
}
FIXED = [name for name in COLUMNS if name not in FILLABLE]
INSERT = (
    "INSERT INTO agreements (decision_id, lane, risk_tier, agent_id, guardrail_verdict, recorded_by)"
    " VALUES (%s, 'lane', 'low', 'agent-7', 'pass', 'bot') RETURNING id"
)
FULL = f"UPDATE agreements SET {', '.join(f'{name} = %({name})s' for name in FILLABLE)} WHERE id = %(id)s"


@pytest.fixture
def writer(writer_url: str) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    with psycopg.connect(writer_url, autocommit=True, row_factory=dict_row) as connection:
        yield connection


@pytest.fixture
def full_row(writer: psycopg.Connection[dict[str, Any]]) -> dict[str, Any]:
    """A row in which every fillable column is set."""
    inserted = writer.execute(INSERT, ("full",)).fetchone()
    assert inserted is not None
    writer.execute(FULL, {**FILLABLE, "id": inserted["id"]})
    return stored(writer, inserted["id"])


def stored(connection: psycopg.Connection[dict[str, Any]], row_id: Any) -> dict[str, Any]:
    # as text, so that a change of spelling is a change
    row = connection.execute(
        "SELECT row_to_json(a)::text AS row, a.id FROM agreements a WHERE id = %s", (row_id,)
    ).fetchone()
    assert row is not None
    return row


def refused(connection: psycopg.Connection[Any], statement: sql.Composable | str, *parameters: Any) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as raised:
        connection.execute(statement, parameters or None)  # type: ignore[arg-type]
    return raised.value


@pytest.mark.parametrize("column", FILLABLE)
@pytest.mark.parametrize("value", ["other", "null"])
def test_a_set_column_is_never_changed(
    writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any], column: str, value: str
) -> None:
    new = OTHER[column] if value == "other" else None
    error = refused(
        writer,
        sql.SQL("UPDATE agreements SET {} = %s WHERE id = %s").format(sql.Identifier(column)),
        new,
        full_row["id"],
    )
    assert error.sqlstate == "AL001"
    assert stored(writer, full_row["id"]) == full_row


@pytest.mark.parametrize("column", FIXED)
def test_a_column_that_is_not_fillable_is_never_updated(
    writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any], column: str
) -> None:
    statement = sql.SQL("UPDATE agreements SET {} = DEFAULT WHERE id = %s").format(sql.Identifier(column))
    error = refused(writer, statement, full_row["id"])
    assert isinstance(error, psycopg.errors.InsufficientPrivilege)
    assert stored(writer, full_row["id"]) == full_row


@pytest.mark.parametrize("column", FIXED)
def test_not_even_the_owner_updates_a_column_that_is_not_fillable(
    owner_url: str, writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any], column: str
) -> None:
    values = {"revision": "7", "created_at": "now() - interval '1 day'", "guardrail_confidence": "0.5"}
    uuids = ("id", "project_id", "supersedes")
    value = values.get(column) or ("gen_random_uuid()" if column in uuids else "now()" if column.endswith("_at") else
        "'{}'::jsonb" if column == "guardrail_checks" else "'fail'")  # fmt: skip
    with psycopg.connect(owner_url, autocommit=True) as owner:
        error = refused(owner, f"UPDATE agreements SET {column} = {value}")
    assert error.sqlstate == "AL001"
    assert stored(writer, full_row["id"]) == full_row


FORBIDDEN = {
    "delete": "DELETE FROM agreements",
    "delete_current": "DELETE FROM current_agreements",
    "truncate": "TRUNCATE agreements",
    "truncate_cascade": "TRUNCATE agreements CASCADE",
    "drop": "DROP TABLE agreements CASCADE",
    "drop_view": "DROP VIEW current_agreements",
    "drop_trigger": "DROP TRIGGER agreements_update ON agreements",
    "drop_constraint": "ALTER TABLE agreements DROP CONSTRAINT ck_agreements_guardrail_verdict_known",
    "drop_function": "DROP FUNCTION agreements_guard_update() CASCADE",
    "replace_function": "CREATE OR REPLACE FUNCTION agreements_guard_update() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "alter": "ALTER TABLE agreements ADD COLUMN sneaky text",
    "rename": "ALTER TABLE agreements RENAME TO gone",
    "rename_column": "ALTER TABLE agreements RENAME COLUMN lane TO line",
    "own": "ALTER TABLE agreements OWNER TO CURRENT_USER",
    "disable_triggers": "ALTER TABLE agreements DISABLE TRIGGER ALL",
    "disable_one_trigger": "ALTER TABLE agreements DISABLE TRIGGER agreements_delete",
    "disable_user_triggers": "ALTER TABLE agreements DISABLE TRIGGER USER",
    "enum": "ALTER TYPE agreement_kind ADD VALUE 'maybe'",
    "rename_enum_value": "ALTER TYPE agreement_kind RENAME VALUE 'true_pass' TO 'false_ish'",
    "rule": "CREATE RULE r AS ON UPDATE TO agreements DO INSTEAD NOTHING",
    "trigger": "CREATE TRIGGER t BEFORE INSERT ON agreements FOR EACH ROW EXECUTE FUNCTION agreements_guard_first()",
    "table": "CREATE TABLE public.agreements2 (x int)",
    "index": "CREATE INDEX ON agreements (lane)",
    "replica": "SET session_replication_role = replica",
    "set_role_owner": "SET ROLE agreement_log_owner",
    "set_role_superuser": "SET ROLE postgres",
    "set_session": "SET SESSION AUTHORIZATION agreement_log_owner",
    "grant_to_self": "GRANT agreement_log_owner TO CURRENT_USER",
    "migrations": "UPDATE alembic_version SET version_num = '0001'",
    "merge": "MERGE INTO agreements a USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
    "copy_program": "COPY agreements TO PROGRAM 'cat'",
    "upsert": "INSERT INTO agreements (id, decision_id, lane, risk_tier, agent_id, guardrail_verdict, recorded_by)"
    " SELECT id, decision_id, lane, risk_tier, agent_id, guardrail_verdict, recorded_by FROM agreements"
    " ON CONFLICT (id) DO UPDATE SET lane = 'other'",
}  # fmt: skip


@pytest.mark.parametrize("statement", FORBIDDEN.values(), ids=FORBIDDEN)
def test_the_services_login_cannot(
    writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any], statement: str
) -> None:
    refused(writer, statement)
    assert stored(writer, full_row["id"]) == full_row


@pytest.mark.parametrize("statement", ["DELETE FROM agreements", "TRUNCATE agreements", "TRUNCATE agreements CASCADE"])
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_not_even_a_superuser_deletes_in_passing(
    owner_url: str, writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any], statement: str, role: str
) -> None:
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute(f"SET session_replication_role = {role}")
        assert refused(owner, statement).sqlstate == "AL001"
    assert stored(writer, full_row["id"]) == full_row


def test_the_reader_reads_and_no_more(
    owner_url: str, writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any]
) -> None:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("SET ROLE agreement_log_reader")
        assert connection.execute("SELECT count(*) FROM current_agreements").fetchone() == (1,)
        for statement in ("INSERT INTO agreements (decision_id) VALUES ('x')", "UPDATE agreements SET pr_id = '9'"):
            assert isinstance(refused(connection, statement), psycopg.errors.InsufficientPrivilege)


def test_a_null_column_is_filled_once(writer: psycopg.Connection[dict[str, Any]]) -> None:
    row = writer.execute(INSERT, ("once",)).fetchone()
    assert row is not None
    writer.execute("UPDATE agreements SET pr_id = '7' WHERE id = %s", (row["id"],))
    writer.execute("UPDATE agreements SET pr_id = '7' WHERE id = %s", (row["id"],))  # nothing changes
    assert refused(writer, "UPDATE agreements SET pr_id = '8' WHERE id = %s", row["id"]).sqlstate == "AL001"


CREATED = "INSERT INTO agreements (decision_id, lane, risk_tier, agent_id, guardrail_verdict, recorded_by, created_at) VALUES ('x', 'l', 'low', 'a', 'pass', 'b', {})"


def test_created_at_is_the_clock_of_the_database(writer: psycopg.Connection[dict[str, Any]]) -> None:
    assert refused(writer, CREATED.format("now() - interval '1 second'")).sqlstate == "AL002"
    assert refused(writer, CREATED.format("now() + interval '1 second'")).sqlstate == "AL002"
    with writer.transaction():
        writer.execute("SET LOCAL agreement_log.import = 'on'")
        assert refused_inside(writer, CREATED.format("now() + interval '1 second'")) == "AL002"
        writer.execute(CREATED.format("now() - interval '90 days'"))


def refused_inside(connection: psycopg.Connection[Any], statement: str) -> str | None:
    with pytest.raises(psycopg.Error) as raised, connection.transaction():
        connection.execute(statement)  # type: ignore[arg-type]
    return raised.value.sqlstate


def append(connection: psycopg.Connection[Any], decision: str, **changes: Any) -> None:
    """A revision of a decision's row, copied with `changes`, over raw SQL."""
    values = {"id": "gen_random_uuid()", "revision": "a.revision + 1", "supersedes": "a.id", "revised_at": "now()",
              "revision_reason": "'why'", "recorded_by": "'grace'", **changes}  # fmt: skip
    columns = ", ".join(values.get(name, f"a.{name}") for name in COLUMNS)
    connection.execute(
        f"INSERT INTO agreements ({', '.join(COLUMNS)}) SELECT {columns} FROM agreements a WHERE decision_id = %s",
        (decision,),
    )


REVISED = {
    "lane": "'other'", "risk_tier": "'high'", "agent_id": "'agent-8'", "guardrail_verdict": "'fail'",
    "guardrail_confidence": "0.1", "guardrail_checks": "'{}'", "property": "'p'", "workflow_slug": "'w'", "phase": "'p'",
    "artifact_ref": "'a'", "created_at": "a.created_at - interval '1 second'", "decision_id": "'another'",
    "project_id": "gen_random_uuid()",
}  # fmt: skip


@pytest.mark.parametrize("column", REVISED)
def test_a_revision_never_changes_what_was_proposed(
    writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any], column: str
) -> None:
    with pytest.raises(psycopg.Error) as raised:
        append(writer, "full", **{column: REVISED[column]})
    assert raised.value.sqlstate == "AL003"


def test_a_revision_follows_the_one_that_it_supersedes(
    writer: psycopg.Connection[dict[str, Any]], full_row: dict[str, Any]
) -> None:
    for wrong in ({"revision": "3"}, {"supersedes": "gen_random_uuid()"}):
        with pytest.raises(psycopg.Error) as raised:
            append(writer, "full", **wrong)
        assert raised.value.sqlstate == "AL003"
    append(writer, "full", post_merge_outcome="'regressed'")
    with pytest.raises(psycopg.errors.UniqueViolation):
        writer.execute(  # a second revision of the first row
            f"INSERT INTO agreements ({', '.join(COLUMNS)}) SELECT "
            + ", ".join({"id": "gen_random_uuid()", "revision": "2", "supersedes": "id", "revised_at": "now()",
                         "revision_reason": "'x'"}.get(name, name) for name in COLUMNS)
            + " FROM agreements WHERE revision = 1"
        )  # fmt: skip


def test_a_superseded_row_takes_no_more(writer: psycopg.Connection[dict[str, Any]]) -> None:
    row = writer.execute(INSERT, ("old",)).fetchone()
    assert row is not None
    append(writer, "old", pr_id="'7'")
    assert refused(writer, "UPDATE agreements SET pr_id = '7' WHERE id = %s", row["id"]).sqlstate == "AL001"


CHECKED = {
    "guardrail_verdict_known": {"guardrail_verdict": "'maybe'"},
    "guardrail_confidence_in_range": {"guardrail_confidence": "1.1"},
    "guardrail_confidence_in_range_nan": {"guardrail_confidence": "'NaN'"},
    "human_reason_given": {"human_verdict": "'revise'", "human_reason": "E' \\n'", "reviewed_by": "'ada'"},
    "human_reason_given_waive": {"human_verdict": "'waive'", "agreement": "'true_pass'", "reviewed_by": "'ada'"},
    "agreement_needs_human_verdict": {"agreement": "'true_pass'", "reviewed_by": "'ada'"},
    "waive_needs_agreement": {"human_verdict": "'waive'", "human_reason": "'r'", "reviewed_by": "'ada'"},
    "reject_takes_no_outcome": {"human_verdict": "'reject'", "reviewed_by": "'ada'", "post_merge_outcome": "'held'"},
    "human_review_latency_in_range": {"human_review_latency": "-0.1"},
    "human_review_latency_in_range_endless": {"human_review_latency": "'Infinity'"},
    "reviewer_is_not_agent": {"human_verdict": "'merge'", "reviewed_by": "'a'"},
    "revision_supersedes": {"revision": "2", "revised_at": "now()", "revision_reason": "'r'"},
    "revision_explained": {"revision_reason": "'r'"},
    "indexed_texts_fit": {"post_merge_outcome": "repeat('x', 401)"},
}  # fmt: skip


@pytest.mark.parametrize("case", CHECKED)
def test_a_constraint_refuses(writer: psycopg.Connection[dict[str, Any]], case: str) -> None:
    values = {"decision_id": "'d'", "lane": "'l'", "risk_tier": "'low'", "agent_id": "'a'", "guardrail_verdict": "'pass'",
              "recorded_by": "'b'", **CHECKED[case]}  # fmt: skip
    error = refused(writer, f"INSERT INTO agreements ({', '.join(values)}) VALUES ({', '.join(values.values())})")
    assert isinstance(error, psycopg.errors.CheckViolation)
    assert case.startswith((error.diag.constraint_name or "").removeprefix("ck_agreements_"))


def test_a_review_and_an_outcome_name_who_wrote_them(writer: psycopg.Connection[dict[str, Any]]) -> None:
    row = writer.execute(INSERT, ("anonymous",)).fetchone()
    assert row is not None
    for column, value in (("human_verdict", "merge"), ("post_merge_outcome", "held")):
        statement = sql.SQL("UPDATE agreements SET {} = %s WHERE id = %s").format(sql.Identifier(column))
        assert refused(writer, statement, value, row["id"]).sqlstate == "AL004"
    assert refused(writer, CREATED.replace("'b'", "NULL").format("now()")).sqlstate == "AL004"
