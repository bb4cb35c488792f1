"""Incidents are remembered by their signatures, and changes are judged.

Compatibility: code before 0046 works after it, and remembers and judges nothing.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "past_incidents",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("hosts", postgresql.JSONB, nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("sentence", sa.Text, nullable=False, server_default=""),
        sa.Column("signature", postgresql.JSONB, nullable=False, server_default=sa.text("'{}'::jsonb")),
        sa.Column("computed_at", instant, nullable=True),
        sa.Column("n_tries", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("cause", sa.Text, nullable=False, server_default=""),
        sa.Column("remedy", sa.Text, nullable=False, server_default=""),
        sa.Column("named_by", sa.Text, nullable=False, server_default=""),
        sa.Column("named_at", instant, nullable=True),
        sa.Column("is_off", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("origin", sa.Text, nullable=False, server_default=""),
        sa.Column("comparison_id", sa.BigInteger, nullable=True),
        sa.Column("episode_id", sa.BigInteger, nullable=True),
        sa.Column("exclusion_id", sa.BigInteger, nullable=True),
        sa.Column("created_at", instant, nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_past_incidents")),
        *(
            sa.ForeignKeyConstraint(
                [f"{one}_id"], [f"{one}s.id"], name=op.f(f"fk_past_incidents__{one}_id"), ondelete="SET NULL"
            )
            for one in ("comparison", "episode", "exclusion")
        ),
    )
    for one in ("comparison", "episode", "exclusion"):
        op.create_index(f"uq_past_incidents__{one}_id", "past_incidents", [f"{one}_id"], unique=True)
    op.create_index("ix_past_incidents__start_at", "past_incidents", ["start_at"])
    op.create_index(
        "ix_past_incidents__pending", "past_incidents", ["id"], postgresql_where=sa.text("computed_at IS NULL")
    )
    op.create_table(
        "change_verdicts",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("event_id", sa.BigInteger, nullable=True),
        sa.Column("host_id", sa.BigInteger, nullable=False),
        sa.Column("at", instant, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False, server_default=""),
        sa.Column("sentence", sa.Text, nullable=False, server_default=""),
        sa.Column("changes", postgresql.JSONB, nullable=False, server_default=sa.text("'[]'::jsonb")),
        sa.Column("before_start_at", instant, nullable=False),
        sa.Column("before_end_at", instant, nullable=False),
        sa.Column("after_start_at", instant, nullable=False),
        sa.Column("after_end_at", instant, nullable=False),
        sa.Column("baseline_id", sa.BigInteger, nullable=True),
        sa.Column("n_tries", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("judged_at", instant, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change_verdicts")),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name=op.f("fk_change_verdicts__event_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_change_verdicts__host_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["baseline_id"], ["baselines.id"], name=op.f("fk_change_verdicts__baseline_id"), ondelete="SET NULL"
        ),
    )
    op.create_index(
        "uq_change_verdicts__event_id_host_id", "change_verdicts", ["event_id", "host_id"], unique=True,
        postgresql_where=sa.text("event_id IS NOT NULL"),
    )  # fmt: skip
    op.create_index(
        "uq_change_verdicts__host_id_at", "change_verdicts", ["host_id", "at"], unique=True,
        postgresql_where=sa.text("event_id IS NULL"),
    )  # fmt: skip
    op.create_index(op.f("ix_change_verdicts__host_id"), "change_verdicts", ["host_id"])


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("change_verdicts")
    op.drop_table("past_incidents")
