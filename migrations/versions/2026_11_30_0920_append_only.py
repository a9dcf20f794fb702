"""Append-only, enforced by the database: revisions, constraints, guards, roles, and the view of what is current.

Rows that are there already are kept as they are. A constraint that some of them break is left NOT VALID: it holds
for every new row, and for an old one as soon as it is touched. Rows that share a decision become its revisions, in
the order in which they were recorded.

The way down keeps the dropped columns in `agreements_kept_0003`, and the way up puts them back. The roles stay:
they belong to the cluster, and another database may use them.

It is long because a deployment must never stand between its parts: a view without its guard, a guard without its roles.
"""

from __future__ import annotations

import logging

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

logger = logging.getLogger("alembic.runtime.migration")

OWNER, WRITER, READER = "agreement_log_owner", "agreement_log_writer", "agreement_log_reader"

FILLABLE = (
    # the review group
    "human_verdict", "human_reason", "agreement", "human_review_latency", "reviewed_by", "reviewed_at",
    # the merge group
    "proposal_to_merge_diff", "pr_id", "merged_at",
    # the outcome group
    "post_merge_outcome", "outcome_by", "outcome_at",
)  # fmt: skip
OF_THE_REVISION = ("id", "recorded_by", "revision", "supersedes", "revised_at", "revision_reason")

CONSTRAINTS = {
    # A third word would be counted nowhere and would quietly shrink every rate.
    "ck_agreements_guardrail_verdict_known": "guardrail_verdict IN ('pass', 'fail')",
    # NaN is greater than every number, so it is refused too; the scale keeps an index entry within its page.
    "ck_agreements_guardrail_confidence_in_range":
        "guardrail_confidence BETWEEN 0 AND 1 AND scale(guardrail_confidence) <= 30",
    # A revision or an override that nobody explained teaches nothing.
    "ck_agreements_human_reason_given":
        r"human_verdict NOT IN ('revise', 'waive') OR coalesce(human_reason, '') ~ '\S'",
    # An agreement with no human verdict would be a judgement of nothing a human did.
    "ck_agreements_agreement_needs_human_verdict": "agreement IS NULL OR human_verdict IS NOT NULL",
    # A waived row without an authored word would be missing from its four-way split.
    "ck_agreements_waive_needs_agreement": "human_verdict <> 'waive' OR agreement IS NOT NULL",
    # What was rejected was never merged, so the world cannot have shown anything.
    "ck_agreements_reject_takes_no_outcome": "human_verdict <> 'reject' OR post_merge_outcome IS NULL",
    # A negative or endless latency would spoil every average.
    "ck_agreements_human_review_latency_in_range":
        "human_review_latency >= 0 AND human_review_latency < 'Infinity'::numeric",
    # An agent that reviews its own proposal would be derived agreement by another name.
    "ck_agreements_reviewer_is_not_agent": "reviewed_by <> agent_id",
    # A revision that supersedes nothing, or a first row that does, would break the chain of history.
    "ck_agreements_revision_supersedes":
        "(revision = 1 AND supersedes IS NULL) OR (revision > 1 AND supersedes IS NOT NULL)",
    # A correction without its reason and its time would be a silent rewrite.
    "ck_agreements_revision_explained":
        r"(revision = 1 AND revised_at IS NULL AND revision_reason IS NULL)"
        r" OR (revision > 1 AND revised_at IS NOT NULL AND revision_reason ~ '\S')",
    # Longer texts could not be indexed, and the insert would fail with an error nobody could act on.
    "ck_agreements_indexed_texts_fit":
        "octet_length(lane) <= 400 AND octet_length(risk_tier) <= 400 AND octet_length(decision_id) <= 2000"
        " AND coalesce(octet_length(post_merge_outcome), 0) <= 400 AND coalesce(octet_length(property), 0) <= 400",
}  # fmt: skip

FUNCTIONS = (
    # The names of the columns in which two rows differ, to the letter: 0.5 and 0.50 are different writings.
    # It reads the rows as records, so that a column added tomorrow is guarded without a change here.
    """
    CREATE FUNCTION agreements_differing_columns(a agreements, b agreements) RETURNS text[]
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
        SELECT coalesce(array_agg(x.key ORDER BY x.key), '{}')
        FROM json_each_text(row_to_json(a)) x JOIN json_each_text(row_to_json(b)) y ON y.key = x.key
        WHERE x.value IS DISTINCT FROM y.value
    $$
    """,
    f"""
    CREATE FUNCTION agreements_guard_update() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
        changed text[] := public.agreements_differing_columns(OLD, NEW);
        fillable constant text[] := '{{{",".join(FILLABLE)}}}';
        col text;
    BEGIN
        FOREACH col IN ARRAY changed LOOP
            IF col <> ALL (fillable) THEN
                RAISE EXCEPTION 'agreements is append-only: column % never changes', col USING ERRCODE = 'AL001';
            ELSIF row_to_json(OLD) ->> col IS NOT NULL THEN
                RAISE EXCEPTION 'agreements is append-only: column % is set already', col USING ERRCODE = 'AL001';
            END IF;
        END LOOP;
        IF changed <> '{{}}' AND EXISTS (SELECT 1 FROM public.agreements WHERE supersedes = OLD.id) THEN
            RAISE EXCEPTION 'agreements is append-only: a superseded row takes no more' USING ERRCODE = 'AL001';
        END IF;
        -- Who authored a word is part of the word.
        IF changed && '{{human_verdict,agreement}}' AND NEW.reviewed_by IS NULL THEN
            RAISE EXCEPTION 'a review needs reviewed_by' USING ERRCODE = 'AL004';
        END IF;
        IF 'post_merge_outcome' = ANY (changed) AND NEW.outcome_by IS NULL THEN
            RAISE EXCEPTION 'an outcome needs outcome_by' USING ERRCODE = 'AL004';
        END IF;
        RETURN NEW;
    END
    $$
    """,
    """
    CREATE FUNCTION agreements_guard_removal() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
        RAISE EXCEPTION 'agreements is append-only: % is refused', TG_OP USING ERRCODE = 'AL001';
    END
    $$
    """,
    # The import path announces itself with `SET LOCAL agreement_log.import = 'on'`.
    """
    CREATE FUNCTION agreements_guard_first() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
        IF NEW.recorded_by IS NULL THEN
            RAISE EXCEPTION 'a row needs recorded_by' USING ERRCODE = 'AL004';
        END IF;
        IF num_nonnulls(NEW.human_verdict, NEW.agreement) > 0 AND NEW.reviewed_by IS NULL THEN
            RAISE EXCEPTION 'a review needs reviewed_by' USING ERRCODE = 'AL004';
        END IF;
        IF NEW.created_at > now() THEN
            RAISE EXCEPTION 'created_at lies in the future' USING ERRCODE = 'AL002';
        END IF;
        IF NEW.created_at < now() AND coalesce(current_setting('agreement_log.import', true), '') <> 'on' THEN
            RAISE EXCEPTION 'created_at is the clock of the database' USING ERRCODE = 'AL002';
        END IF;
        RETURN NEW;
    END
    $$
    """,
    # The lock makes a correction and a fill of the same row take turns: without it a fill that commits after the
    # copy was taken would be missing from the newest revision.
    f"""
    CREATE FUNCTION agreements_guard_revision() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
    DECLARE
        superseded public.agreements;
        free constant text[] := '{{{",".join(FILLABLE + OF_THE_REVISION)}}}';
        col text;
    BEGIN
        SELECT * INTO superseded FROM public.agreements WHERE id = NEW.supersedes FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no row to supersede' USING ERRCODE = 'AL003';
        END IF;
        IF NEW.revision <> superseded.revision + 1 THEN
            RAISE EXCEPTION 'a revision follows the one that it supersedes' USING ERRCODE = 'AL003';
        END IF;
        FOREACH col IN ARRAY public.agreements_differing_columns(superseded, NEW) LOOP
            IF col <> ALL (free) THEN
                RAISE EXCEPTION 'a correction never changes column %', col USING ERRCODE = 'AL003';
            END IF;
        END LOOP;
        IF NEW.recorded_by IS NULL THEN
            RAISE EXCEPTION 'a correction needs its author' USING ERRCODE = 'AL004';
        END IF;
        IF NEW.revised_at > now() THEN
            RAISE EXCEPTION 'revised_at lies in the future' USING ERRCODE = 'AL002';
        END IF;
        RETURN NEW;
    END
    $$
    """,
)

TRIGGERS = (
    "agreements_update BEFORE UPDATE ON agreements FOR EACH ROW EXECUTE FUNCTION agreements_guard_update()",
    "agreements_delete BEFORE DELETE ON agreements FOR EACH ROW EXECUTE FUNCTION agreements_guard_removal()",
    "agreements_truncate BEFORE TRUNCATE ON agreements FOR EACH STATEMENT EXECUTE FUNCTION agreements_guard_removal()",
    # The conditions keep the plain insert, the hot path, free of any function call.
    """agreements_first BEFORE INSERT ON agreements FOR EACH ROW
    WHEN (NEW.supersedes IS NULL AND (
        NEW.recorded_by IS NULL OR NEW.created_at <> now() OR NEW.human_verdict IS NOT NULL OR NEW.agreement IS NOT NULL
    )) EXECUTE FUNCTION agreements_guard_first()""",
    """agreements_revision BEFORE INSERT ON agreements FOR EACH ROW
    WHEN (NEW.supersedes IS NOT NULL) EXECUTE FUNCTION agreements_guard_revision()""",
)

# The column list is explicit, so that the view is the same whichever way the table came to be.
COLUMNS = (
    "id", "project_id", "decision_id", "pr_id", "lane", "risk_tier", "agent_id", "guardrail_verdict",
    "guardrail_confidence", "guardrail_checks", "human_verdict", "human_reason", "proposal_to_merge_diff",
    "human_review_latency", "agreement", "post_merge_outcome", "created_at", "property", "workflow_slug", "phase",
    "artifact_ref", "recorded_by", "reviewed_by", "reviewed_at", "merged_at", "outcome_by", "outcome_at", "revision",
    "supersedes", "revised_at", "revision_reason",
)  # fmt: skip
OWN_COLUMNS = COLUMNS[COLUMNS.index("recorded_by") :]


def upgrade() -> None:
    _name_the_primary_key()
    _add_columns()
    _number_revisions()
    _constrain()
    _index()
    _guard()
    _make_roles()


def _name_the_primary_key() -> None:
    """An older deployment may have let Postgres name it; errors are told apart by constraint name."""
    op.execute(
        """
        DO $$
        DECLARE old name;
        BEGIN
            SELECT conname INTO old FROM pg_constraint
            WHERE conrelid = 'agreements'::regclass AND contype = 'p' AND conname <> 'pk_agreements';
            IF FOUND THEN
                EXECUTE format('ALTER TABLE agreements RENAME CONSTRAINT %I TO pk_agreements', old);
            END IF;
        END
        $$
        """
    )


def _add_columns() -> None:
    op.execute(
        """
        ALTER TABLE agreements
            ADD COLUMN recorded_by text,
            ADD COLUMN reviewed_by text,
            ADD COLUMN reviewed_at timestamptz,
            ADD COLUMN merged_at timestamptz,
            ADD COLUMN outcome_by text,
            ADD COLUMN outcome_at timestamptz,
            ADD COLUMN revision integer NOT NULL DEFAULT 1,
            ADD COLUMN supersedes uuid,
            ADD COLUMN revised_at timestamptz,
            ADD COLUMN revision_reason text
        """
    )
    restored = ", ".join(f"{column} = k.{column}" for column in OWN_COLUMNS)
    op.execute(
        f"""
        DO $$
        BEGIN
            IF to_regclass('agreements_kept_0003') IS NOT NULL THEN
                UPDATE agreements a SET {restored} FROM agreements_kept_0003 k WHERE k.id = a.id;
                DROP TABLE agreements_kept_0003;
            END IF;
        END
        $$
        """
    )


def _number_revisions() -> None:
    """Rows of one decision become its revisions, the restored ones first; nothing but our own columns is touched."""
    op.execute(
        """
        WITH numbered AS (
            SELECT id, created_at, row_number() OVER decision AS revision, lag(id) OVER decision AS supersedes
            FROM agreements
            WINDOW decision AS (
                PARTITION BY project_id, decision_id
                ORDER BY (recorded_by IS NULL), revision, created_at, id
            )
        )
        UPDATE agreements a
        SET revision = n.revision, supersedes = n.supersedes,
            revised_at = coalesce(a.revised_at, a.created_at),
            revision_reason = coalesce(a.revision_reason, 'recorded again before revisions were kept')
        FROM numbered n
        WHERE n.id = a.id AND n.revision > 1
          AND (a.revision <> n.revision OR a.supersedes IS DISTINCT FROM n.supersedes)
        """
    )


def _constrain() -> None:
    connection = op.get_bind()
    for name, rule in CONSTRAINTS.items():
        op.execute(f"ALTER TABLE agreements ADD CONSTRAINT {name} CHECK ({rule}) NOT VALID")
        broken = connection.scalar(sa.text(f"SELECT count(*) FROM agreements WHERE NOT ({rule})"))
        if broken:
            logger.warning("%s: %s older rows break it; it holds from now on and was not validated", name, broken)
        else:
            op.execute(f"ALTER TABLE agreements VALIDATE CONSTRAINT {name}")
    # A revision of a row that is not there would be history out of nowhere.
    op.execute(
        "ALTER TABLE agreements ADD CONSTRAINT fk_agreements_supersedes"
        " FOREIGN KEY (supersedes) REFERENCES agreements (id)"
    )


def _index() -> None:
    # One row for each revision of a decision: what makes a repeated POST one row, however many clients send it.
    op.execute(
        "ALTER TABLE agreements ADD CONSTRAINT uq_agreements_decision_revision"
        " UNIQUE NULLS NOT DISTINCT (decision_id, project_id, revision)"
    )
    # One successor a row: what lets only one of many simultaneous corrections win. Partial, so that it holds the
    # few revised rows alone and `current_agreements` finds them without reading the table.
    op.execute("CREATE UNIQUE INDEX uq_agreements_supersedes ON agreements (supersedes) WHERE supersedes IS NOT NULL")
    # Everything that the rates read (docs/decisions/0004-one-covering-index.md).
    op.execute(
        """
        CREATE INDEX ix_agreements_created_at ON agreements (created_at) INCLUDE (
            id, lane, risk_tier, guardrail_verdict, guardrail_confidence, human_verdict, agreement,
            post_merge_outcome, property
        )
        """
    )
    # An index-only scan is one only where the visibility map is fresh, and a table that is mostly inserted into
    # is vacuumed too rarely by default.
    op.execute(
        "ALTER TABLE agreements SET (autovacuum_vacuum_insert_scale_factor = 0.02,"
        " autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)"
    )


def _guard() -> None:
    for function in FUNCTIONS:
        op.execute(function)
    for trigger in TRIGGERS:
        op.execute(f"CREATE TRIGGER {trigger}")
        # Fires in replica mode too, which a superuser may set for a session.
        op.execute(f"ALTER TABLE agreements ENABLE ALWAYS TRIGGER {trigger.split()[0]}")
    columns = ", ".join(f"a.{column}" for column in COLUMNS)
    op.execute(
        f"""
        CREATE VIEW current_agreements WITH (security_invoker = true) AS
        SELECT {columns} FROM agreements a
        WHERE NOT EXISTS (
            SELECT 1 FROM agreements n WHERE n.supersedes = a.id AND n.supersedes IS NOT NULL
        )
        """
    )


def _make_roles() -> None:
    for role in (OWNER, WRITER, READER):
        # Two databases of one cluster may migrate at once; whoever comes second finds the role made.
        op.execute(
            f"""
            DO $$
            BEGIN
                IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{role}') THEN
                    CREATE ROLE {role} NOLOGIN;
                END IF;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END
            $$
            """
        )
    op.execute(
        f"""
        DO $$
        BEGIN
            IF NOT pg_has_role(current_user, '{OWNER}', 'USAGE') THEN
                EXECUTE format('GRANT {OWNER} TO %I', current_user);
            END IF;
        END
        $$
        """
    )
    op.execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {OWNER}")
    op.execute(f"GRANT USAGE ON SCHEMA public TO {WRITER}, {READER}")
    op.execute(f"GRANT SELECT ON agreements, current_agreements, alembic_version TO {WRITER}, {READER}")
    op.execute(f"GRANT INSERT ON agreements TO {WRITER}")
    op.execute(f"GRANT UPDATE ({', '.join(FILLABLE)}) ON agreements TO {WRITER}")
    for kind, name in _objects():
        op.execute(f"ALTER {kind} {name} OWNER TO {OWNER}")


def _objects() -> tuple[tuple[str, str], ...]:
    return (
        ("TABLE", "agreements"),
        ("VIEW", "current_agreements"),
        ("TYPE", "human_verdict_kind"),
        ("TYPE", "agreement_kind"),
        ("FUNCTION", "agreements_differing_columns(agreements, agreements)"),
        ("FUNCTION", "agreements_guard_update()"),
        ("FUNCTION", "agreements_guard_removal()"),
        ("FUNCTION", "agreements_guard_first()"),
        ("FUNCTION", "agreements_guard_revision()"),
    )


def downgrade() -> None:
    for kind, name in reversed(_objects()):
        op.execute(f"ALTER {kind} {name} OWNER TO CURRENT_USER")
    op.execute(f"REVOKE ALL ON agreements, current_agreements, alembic_version FROM {WRITER}, {READER}")
    op.execute(f"REVOKE UPDATE ({', '.join(FILLABLE)}) ON agreements FROM {WRITER}")
    op.execute("DROP VIEW current_agreements")
    for trigger in TRIGGERS:
        op.execute(f"DROP TRIGGER {trigger.split()[0]} ON agreements")
    for kind, name in reversed(_objects()):
        if kind == "FUNCTION":
            op.execute(f"DROP FUNCTION {name}")
    op.execute(f"CREATE TABLE agreements_kept_0003 AS SELECT id, {', '.join(OWN_COLUMNS)} FROM agreements")
    op.execute(
        """
        DO $$
        BEGIN
            IF NOT EXISTS (SELECT 1 FROM agreements_kept_0003) THEN
                DROP TABLE agreements_kept_0003;
            END IF;
        END
        $$
        """
    )
    op.execute("ALTER TABLE agreements RESET (autovacuum_vacuum_insert_scale_factor, autovacuum_vacuum_scale_factor,"
               " autovacuum_analyze_scale_factor)")  # fmt: skip
    op.execute("DROP INDEX ix_agreements_created_at")
    for name in CONSTRAINTS:
        op.execute(f"ALTER TABLE agreements DROP CONSTRAINT {name}")
    op.execute("ALTER TABLE agreements DROP CONSTRAINT fk_agreements_supersedes")
    op.execute("ALTER TABLE agreements DROP CONSTRAINT uq_agreements_decision_revision")
    op.execute("ALTER TABLE agreements " + ", ".join(f"DROP COLUMN {column}" for column in OWN_COLUMNS))
