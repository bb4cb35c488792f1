"""Second factors of local accounts: the secret of an authenticator app, and hashes of recovery codes.

Compatibility: code before 0032 works after it, and asks nobody for a code.
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "second_factors",
        sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("confirmed_at", sa.DateTime(timezone=True)),
        sa.Column("last_step", sa.BigInteger, nullable=False, server_default="0"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], "fk_second_factors__user_id", ondelete="CASCADE"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("code_hash", sa.LargeBinary, primary_key=True),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], "fk_recovery_codes__user_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("recovery_codes")
    op.drop_table("second_factors")
