"""Imports may load a file with several hosts into each of them.

Compatibility: code before 0043 works after it, and loads the lines of the first host only.
"""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("imports", sa.Column("is_each_host", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_column("imports", "is_each_host")
