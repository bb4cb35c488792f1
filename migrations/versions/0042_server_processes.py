"""Server processes with their heartbeats, so that one that hangs is replaced.

Compatibility: code before 0042 works after it, and has no heartbeat: such servers are replaced only when their connections end.
"""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    now = sa.text("now()")
    op.create_table(
        "server_processes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        prefixes=["UNLOGGED"],
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("server_processes")
