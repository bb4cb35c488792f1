"""index of rejected lines by time of arrival.

Compatibility: every version that works with 0002 works before and after. Without the index, the
list of hosts is slow if many lines were rejected.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_index("ix_rejected_lines__received_at", "rejected_lines", ["received_at"], unique=False)


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_index("ix_rejected_lines__received_at", table_name="rejected_lines")
