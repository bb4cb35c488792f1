"""What the latest check of all stored data, and the latest backup, found damaged.

Compatibility: code before 0041 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "data_checks",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n_bytes", sa.BigInteger, nullable=False),
        sa.Column("n_damaged", sa.Integer, nullable=False),
        sa.Column("damaged", JSONB, nullable=False),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("data_checks")
