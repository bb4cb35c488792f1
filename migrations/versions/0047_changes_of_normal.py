"""When normal changed on hosts.

Compatibility: code before 0047 works after it, and looks for no changes of normal.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "normal_changes",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger, nullable=False),
        sa.Column("at", instant, nullable=False),
        sa.Column("n_series", sa.Integer, nullable=False),
        sa.Column("n_compared", sa.Integer, nullable=False),
        sa.Column("sentence", sa.Text, nullable=False),
        sa.Column("series", postgresql.JSONB, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_normal_changes")),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_normal_changes__host_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_normal_changes__host_id_at", "normal_changes", ["host_id", "at"])
    op.add_column("hosts", sa.Column("normal_until", instant, nullable=True))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_column("hosts", "normal_until")
    op.drop_table("normal_changes")
