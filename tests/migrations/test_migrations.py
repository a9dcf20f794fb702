"""The migrations, on a real database: up, down, up again, and a deployment that is older than the service."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from alembic import command
from psycopg.rows import dict_row
from sqlalchemy.exc import DBAPIError

from app.platform import migrations
from app.platform.database import migration_engine
from app.settings import Settings

# Whatever makes two schemas differ, read from the catalogue. Sorted, as the order of the rows means nothing.
CATALOGUE = {
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
            row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped""",
    "relations": """
        SELECT relname, relkind, pg_get_userbyid(relowner), relacl::text, reloptions
        FROM pg_class WHERE relnamespace = 'public'::regnamespace""",
    "column_grants": "SELECT attname, attacl::text FROM pg_attribute WHERE attrelid = to_regclass('agreements') AND attacl IS NOT NULL",
    "constraints": "SELECT conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT proname, pg_get_functiondef(oid), pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "enums": "SELECT typname, enumlabel, enumsortorder FROM pg_enum JOIN pg_type t ON t.oid = enumtypid",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
}

REFERENCE_ROWS = """
    INSERT INTO agreements (id, decision_id, lane, risk_tier, agent_id, guardrail_verdict, guardrail_confidence,
        human_verdict, human_reason, human_review_latency, agreement, post_merge_outcome, created_at, guardrail_checks)
    VALUES
        ('00000000-0000-0000-0000-000000000001', 'd1', 'l', 'low', 'a', 'pass', 0.90, 'merge', NULL, 12.5, 'true_pass',
            'held', '2024-01-01 10:00+02', '{"n": 1.50}'),
        ('00000000-0000-0000-0000-000000000002', 'd2', 'l', 'low', 'a', 'fail', NULL, 'revise', NULL, NULL, NULL, NULL,
            '2024-01-02', NULL),
        ('00000000-0000-0000-0000-000000000003', 'd3', 'l', 'low', 'a', 'pass', NULL, NULL, NULL, -1, 'false_pass', NULL,
            '2024-01-03', NULL),
        ('00000000-0000-0000-0000-000000000004', 'd1', 'l', 'low', 'a', 'fail', NULL, NULL, NULL, NULL, NULL, NULL,
            '2024-01-04', NULL)
"""


def settings_of(url: str) -> Settings:
    return Settings(migration_database_url=url)


def catalogue(url: str) -> dict[str, Any]:
    with psycopg.connect(url) as connection:
        return {name: sorted(map(repr, connection.execute(query))) for name, query in CATALOGUE.items()}


def rows(url: str, columns: str = "*") -> list[dict[str, Any]]:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        return list(connection.execute(f"SELECT {columns} FROM agreements ORDER BY id"))


def migrate_in_place(url: str) -> None:
    """The reference table with rows, as an older deployment made it, with names that Postgres chose."""
    engine = migration_engine(url)
    with engine.connect() as connection:
        command.upgrade(migrations.config(connection), migrations.REFERENCE)
    engine.dispose()
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE alembic_version")
        connection.execute("ALTER TABLE agreements RENAME CONSTRAINT pk_agreements TO agreements_pkey")
        connection.execute(REFERENCE_ROWS)


def test_a_deployment_with_the_reference_table_is_upgraded_in_place(empty_url: str) -> None:
    migrate_in_place(empty_url)
    before = rows(empty_url)
    with pytest.raises(migrations.MigrationRefused, match="--from-reference"):
        migrations.upgrade(settings_of(empty_url))
    assert migrations.upgrade(settings_of(empty_url), from_reference=True) == migrations.head()
    after = rows(empty_url, ", ".join(before[0]))
    assert after == before


def test_rows_of_one_decision_become_its_revisions(empty_url: str) -> None:
    migrate_in_place(empty_url)
    migrations.upgrade(settings_of(empty_url), from_reference=True)
    with psycopg.connect(empty_url) as connection:
        numbered = connection.execute(
            "SELECT id::text, revision, supersedes::text FROM agreements WHERE decision_id = 'd1' ORDER BY revision"
        )
        first, second = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000004"
        assert list(numbered) == [(first, 1, None), (second, 2, first)]
        current = connection.execute("SELECT id::text FROM current_agreements WHERE decision_id = 'd1'")
        assert list(current) == [(second,)]


def test_a_constraint_that_older_rows_break_holds_for_new_ones(empty_url: str) -> None:
    migrate_in_place(empty_url)
    migrations.upgrade(settings_of(empty_url), from_reference=True)
    with psycopg.connect(empty_url) as connection:
        found = connection.execute("SELECT conname FROM pg_constraint WHERE NOT convalidated ORDER BY 1")
        assert [name for (name,) in found] == [
            "ck_agreements_agreement_needs_human_verdict",
            "ck_agreements_human_reason_given",
            "ck_agreements_human_review_latency_in_range",
        ]
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute(
                "INSERT INTO agreements (decision_id, lane, risk_tier, agent_id, guardrail_verdict, recorded_by, human_review_latency)"
                " VALUES ('d9', 'l', 'low', 'a', 'pass', 'me', -1)"
            )


def fill_with_history(url: str) -> None:
    """Rows that use everything the newer schemas have: a waive, a property, a correction."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO agreements (id, decision_id, lane, risk_tier, agent_id, guardrail_verdict, recorded_by, property,"
            " human_verdict, human_reason, agreement, reviewed_by, reviewed_at) VALUES"
            " ('10000000-0000-0000-0000-000000000001', 'w', 'l', 'low', 'a', 'pass', 'bot', 'storefront',"
            " 'waive', 'urgent', 'false_pass', 'ada', now()),"
            " ('10000000-0000-0000-0000-000000000002', 'c', 'l', 'low', 'a', 'fail', 'bot', NULL,"
            " 'reject', NULL, 'true_fail', 'ada', now())"
        )
        connection.execute(
            "INSERT INTO agreements SELECT (r).* FROM (SELECT jsonb_populate_record(a, jsonb_build_object("
            "'id', '20000000-0000-0000-0000-000000000001', 'revision', 2, 'supersedes', a.id, 'revised_at', now(),"
            " 'revision_reason', 'misread', 'agreement', 'false_fail', 'recorded_by', 'grace')) AS r"
            " FROM agreements a WHERE decision_id = 'c') AS x"
        )


@pytest.mark.parametrize("to", ["0002", "0001"])
def test_down_and_up_again_leave_the_schema_and_every_row_as_they_were(owner_url: str, to: str) -> None:
    fill_with_history(owner_url)
    before, stored = catalogue(owner_url), rows(owner_url)
    assert len(stored) == 3
    migrations.downgrade(settings_of(owner_url), to)
    assert catalogue(owner_url) != before
    migrations.upgrade(settings_of(owner_url))
    assert catalogue(owner_url) == before
    assert rows(owner_url) == stored


def test_down_to_nothing_leaves_nothing(empty_url: str) -> None:
    before = catalogue(empty_url)
    migrations.upgrade(settings_of(empty_url))
    made = catalogue(empty_url)
    migrations.downgrade(settings_of(empty_url), "base")
    left = catalogue(empty_url)
    assert {
        name: entries
        for name, entries in left.items()
        if name not in ("columns", "relations", "indexes", "constraints")
    } == {
        name: entries
        for name, entries in before.items()
        if name not in ("columns", "relations", "indexes", "constraints")
    }
    assert [entry for entry in left["relations"] if "alembic_version" not in entry] == []
    migrations.upgrade(settings_of(empty_url))
    assert catalogue(empty_url) == made


def test_down_to_nothing_is_refused_while_there_are_rows(owner_url: str) -> None:
    fill_with_history(owner_url)
    stored = rows(owner_url, "id")
    with pytest.raises(DBAPIError, match="holds rows"):
        migrations.downgrade(settings_of(owner_url), "base")
    assert rows(owner_url, "id") == stored


def test_the_models_and_the_migrations_say_the_same(owner_url: str) -> None:
    engine = migration_engine(owner_url)
    with engine.connect() as connection:
        command.check(migrations.config(connection))  # raises where `alembic revision --autogenerate` finds something
    engine.dispose()


def test_a_migration_that_waits_for_a_lock_gives_up(owner_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import OperationalError

    with psycopg.connect(owner_url) as holder:
        holder.execute("LOCK TABLE agreements IN ACCESS SHARE MODE")
        with pytest.raises(OperationalError, match="lock timeout"):
            migrations.downgrade(settings_of(owner_url), "0002")


def test_migrating_twice_changes_nothing(owner_url: str) -> None:
    before = catalogue(owner_url)
    migrations.upgrade(settings_of(owner_url))
    assert catalogue(owner_url) == before


def test_two_databases_of_one_cluster_share_the_roles(cluster_url: str, owner_url: str, empty_url: str) -> None:
    migrations.upgrade(settings_of(empty_url))
    assert catalogue(empty_url) == catalogue(owner_url)
