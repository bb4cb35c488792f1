"""known browsers: browsers that logged in to an account, so that an attack on the account does not lock out its owner.

Compatibility: code before 0009 works after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "known_browsers",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("last_login_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_known_browsers__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", "user_id", name=op.f("pk_known_browsers")),
    )
    op.create_index(op.f("ix_known_browsers__user_id"), "known_browsers", ["user_id"])


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("known_browsers")
