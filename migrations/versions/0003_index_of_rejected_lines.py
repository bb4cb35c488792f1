"""index of rejected lines by when they came.

Code before and after: every version that works with 0002 works before and after; without it the list of hosts is slow where many
lines were rejected.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes the change; gives up rather than blocking a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_index("ix_rejected_lines__received_at", "rejected_lines", ["received_at"], unique=False)


def downgrade() -> None:
    """Undoes it."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_index("ix_rejected_lines__received_at", table_name="rejected_lines")
