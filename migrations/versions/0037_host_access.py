"""Accounts that see only the hosts of some host groups.

Compatibility: code before 0037 works after it, and shows such accounts all hosts: stop the old servers before an account is limited.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("users", sa.Column("is_limited", sa.Boolean, nullable=False, server_default=sa.text("false")))
    op.create_table(
        "user_host_groups",
        sa.Column(
            "user_id",
            sa.BigInteger,
            sa.ForeignKey("users.id", name="fk_user_host_groups__user_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "group_id",
            sa.BigInteger,
            sa.ForeignKey("host_groups.id", name="fk_user_host_groups__group_id", ondelete="CASCADE"),
            primary_key=True,
        ),
    )
    op.create_index("ix_user_host_groups__group_id", "user_host_groups", ["group_id"])


def downgrade() -> None:
    """Revert the change: who was limited would see all hosts, so these accounts are disabled."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("UPDATE users SET disabled_at = now() WHERE is_limited AND disabled_at IS NULL")
    op.drop_table("user_host_groups")
    op.drop_column("users", "is_limited")
