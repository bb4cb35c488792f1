"""Which machine sends as a host, so that two with one name and token are noticed.

Compatibility: code before 0039 works after it, and notes no machines.
"""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

COLUMNS = ("machine_at", "other_machine_at")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("hosts", sa.Column("machine", sa.Text, nullable=False, server_default=""))
    for name in COLUMNS:
        op.add_column("hosts", sa.Column(name, sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for name in ("machine", *COLUMNS):
        op.drop_column("hosts", name)
