"""The public spec: `waive` as a human verdict, and the four columns that may be published.

The way down keeps what the older table cannot hold in `agreements_kept_0002`, and the way up puts it back, so that
going down and up again loses nothing. A waived row has no human verdict while the schema is down.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Outside a transaction block: a restore below may use the new value at once.
    with op.get_context().autocommit_block():
        op.execute("ALTER TYPE human_verdict_kind ADD VALUE IF NOT EXISTS 'waive'")
    op.execute(
        """
        ALTER TABLE agreements
            ADD COLUMN property text,
            ADD COLUMN workflow_slug text,
            ADD COLUMN phase text,
            ADD COLUMN artifact_ref text
        """
    )
    op.execute(
        """
        DO $$
        BEGIN
            IF to_regclass('agreements_kept_0002') IS NOT NULL THEN
                UPDATE agreements a
                SET property = k.property, workflow_slug = k.workflow_slug, phase = k.phase,
                    artifact_ref = k.artifact_ref,
                    human_verdict = coalesce(a.human_verdict, k.human_verdict::human_verdict_kind)
                FROM agreements_kept_0002 k
                WHERE k.id = a.id;
                DROP TABLE agreements_kept_0002;
            END IF;
        END
        $$
        """
    )


def downgrade() -> None:
    op.execute(
        """
        CREATE TABLE agreements_kept_0002 AS
        SELECT id, property, workflow_slug, phase, artifact_ref, human_verdict::text AS human_verdict
        FROM agreements
        WHERE num_nonnulls(property, workflow_slug, phase, artifact_ref) > 0 OR human_verdict = 'waive'
        """
    )
    op.execute(
        """
        DO $$
        BEGIN
            IF NOT EXISTS (SELECT 1 FROM agreements_kept_0002) THEN
                DROP TABLE agreements_kept_0002;
            END IF;
        END
        $$
        """
    )
    op.execute(
        """
        ALTER TABLE agreements
            DROP COLUMN property,
            DROP COLUMN workflow_slug,
            DROP COLUMN phase,
            DROP COLUMN artifact_ref
        """
    )
    # Postgres cannot drop a value from an enum: the type is made anew.
    op.execute("ALTER TYPE human_verdict_kind RENAME TO human_verdict_kind_with_waive")
    op.execute("CREATE TYPE human_verdict_kind AS ENUM ('merge', 'reject', 'revise')")
    op.execute(
        """
        ALTER TABLE agreements
            ALTER COLUMN human_verdict TYPE human_verdict_kind
            USING nullif(human_verdict::text, 'waive')::human_verdict_kind
        """
    )
    op.execute("DROP TYPE human_verdict_kind_with_waive")
