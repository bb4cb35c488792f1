"""rolling baselines: the last days of a host that no person's baseline covers; late samples that are not scored yet; results that
retention removed; limits of rules for host groups.

Compatibility: code before 0021 works after it; it shows rolling baselines as if a person had made them, and takes limits of groups
for limits of every host without a tag.
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column(
        "baselines",
        sa.Column(
            "rolling_host_id",
            sa.BigInteger,
            sa.ForeignKey("hosts.id", name="fk_baselines__rolling_host_id", ondelete="CASCADE"),
        ),
    )
    op.create_unique_constraint(op.f("uq_baselines__rolling_host_id"), "baselines", ["rolling_host_id"])
    op.add_column("stream_changes", sa.Column("unscored_from", sa.DateTime(timezone=True)))
    op.add_column(
        "watch_limits",
        sa.Column(
            "group_id",
            sa.BigInteger,
            sa.ForeignKey("host_groups.id", name="fk_watch_limits__group_id", ondelete="CASCADE"),
        ),
    )
    op.add_column("retention_runs", sa.Column("n_results", sa.BigInteger, nullable=False, server_default="0"))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("DELETE FROM baselines WHERE rolling_host_id IS NOT NULL")
    op.execute("DELETE FROM retention_rules WHERE stat LIKE '@%'")
    op.execute("DELETE FROM watch_limits WHERE group_id IS NOT NULL")
    op.drop_column("watch_limits", "group_id")
    op.drop_column("retention_runs", "n_results")
    op.drop_column("stream_changes", "unscored_from")
    op.drop_column("baselines", "rolling_host_id")
