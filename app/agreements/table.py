"""The table as SQLAlchemy sees it: what queries are built from, and what `alembic check` holds the migrations to."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ENUM, JSONB, UUID

metadata = sa.MetaData()

human_verdict_kind = ENUM("merge", "reject", "revise", "waive", name="human_verdict_kind", metadata=metadata)
agreement_kind = ENUM("true_pass", "false_pass", "true_fail", "false_fail", name="agreement_kind", metadata=metadata)


def _columns() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("id", UUID, primary_key=True, server_default=sa.text("gen_random_uuid()")),
        sa.Column("project_id", UUID),
        sa.Column("decision_id", sa.Text, nullable=False),
        sa.Column("pr_id", sa.Text),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("risk_tier", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("guardrail_verdict", sa.Text, nullable=False),
        sa.Column("guardrail_confidence", sa.Numeric),
        sa.Column("guardrail_checks", JSONB),
        sa.Column("human_verdict", human_verdict_kind),
        sa.Column("human_reason", sa.Text),
        sa.Column("proposal_to_merge_diff", JSONB),
        sa.Column("human_review_latency", sa.Numeric),
        sa.Column("agreement", agreement_kind),
        sa.Column("post_merge_outcome", sa.Text),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("property", sa.Text),
        sa.Column("workflow_slug", sa.Text),
        sa.Column("phase", sa.Text),
        sa.Column("artifact_ref", sa.Text),
        sa.Column("recorded_by", sa.Text),
        sa.Column("reviewed_by", sa.Text),
        sa.Column("reviewed_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("merged_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("outcome_by", sa.Text),
        sa.Column("outcome_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
        sa.Column("supersedes", UUID),
        sa.Column("revised_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("revision_reason", sa.Text),
    )


agreements = sa.Table(
    "agreements",
    metadata,
    *_columns(),
    sa.PrimaryKeyConstraint("id", name="pk_agreements"),
    sa.ForeignKeyConstraint(["supersedes"], ["agreements.id"], name="fk_agreements_supersedes"),
    sa.UniqueConstraint(
        "decision_id",
        "project_id",
        "revision",
        name="uq_agreements_decision_revision",
        postgresql_nulls_not_distinct=True,
    ),
)
sa.Index(
    "uq_agreements_supersedes",
    agreements.c.supersedes,
    unique=True,
    postgresql_where=agreements.c.supersedes.is_not(None),
)
sa.Index(
    "ix_agreements_created_at",
    agreements.c.created_at,
    postgresql_include=[
        "id",
        "lane",
        "risk_tier",
        "guardrail_verdict",
        "guardrail_confidence",
        "human_verdict",
        "agreement",
        "post_merge_outcome",
        "property",
    ],
)

# A view, which `alembic check` must not take for a table: it has a metadata of its own.
current_agreements = sa.Table("current_agreements", sa.MetaData(), *_columns())

COLUMNS: tuple[str, ...] = tuple(str(column.name) for column in agreements.columns)
