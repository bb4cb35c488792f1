"""What the list of sessions shows: where each was opened, by which browser, and when it was last used.

Compatibility: code before 0031 works after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("sessions", sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False))
    op.create_unique_constraint("uq_sessions__id", "sessions", ["id"])
    op.create_index("ix_sessions__user_id", "sessions", ["user_id"])
    op.add_column(
        "sessions", sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()"))
    )
    for name in ("address", "browser", "means"):
        op.add_column("sessions", sa.Column(name, sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_index("ix_sessions__user_id", "sessions")
    for name in ("means", "browser", "address", "last_seen_at", "id"):
        op.drop_column("sessions", name)
