"""The reference table, exactly as deployments have it that are older than this service.

Such a deployment stamps this revision (`agreement-log migrate --from-reference`) and upgrades in place.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TYPE human_verdict_kind AS ENUM ('merge', 'reject', 'revise')")
    op.execute("CREATE TYPE agreement_kind AS ENUM ('true_pass', 'false_pass', 'true_fail', 'false_fail')")
    op.execute(
        """
        CREATE TABLE agreements (
            id uuid NOT NULL DEFAULT gen_random_uuid(),
            project_id uuid,
            decision_id text NOT NULL,
            pr_id text,
            lane text NOT NULL,
            risk_tier text NOT NULL,
            agent_id text NOT NULL,
            guardrail_verdict text NOT NULL,
            guardrail_confidence numeric,
            guardrail_checks jsonb,
            human_verdict human_verdict_kind,
            human_reason text,
            proposal_to_merge_diff jsonb,
            human_review_latency numeric,
            agreement agreement_kind,
            post_merge_outcome text,
            created_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT pk_agreements PRIMARY KEY (id)
        )
        """
    )


def downgrade() -> None:
    op.execute(
        """
        DO $$
        BEGIN
            IF EXISTS (SELECT 1 FROM agreements) THEN
                RAISE EXCEPTION 'agreements holds rows: the way down ends here, so that none is lost';
            END IF;
        END
        $$
        """
    )
    op.execute("DROP TABLE agreements")
    op.execute("DROP TYPE agreement_kind")
    op.execute("DROP TYPE human_verdict_kind")
