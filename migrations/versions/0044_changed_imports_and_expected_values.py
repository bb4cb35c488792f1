"""Imports can be renamed, dated again and moved to another host; series have expected values.

Compatibility: code before 0044 works after it, and reads a shifted stream without its shift.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column(
        "streams",
        sa.Column("shift_s", sa.Float(53), nullable=False, server_default="0"),
    )
    op.add_column(
        "imports",
        sa.Column("shift_s", sa.Float(53), nullable=False, server_default="0"),
    )
    op.add_column(
        "imports", sa.Column("label", sa.Text, nullable=False, server_default="")
    )
    op.add_column(
        "imports",
        sa.Column("is_change", sa.Boolean, nullable=False, server_default=sa.false()),
    )
    earlier = sa.Column(
        "earlier",
        postgresql.JSONB,
        nullable=False,
        server_default=sa.text("'[]'::jsonb"),
    )
    op.add_column("imports", earlier)
    op.create_table(
        "expected_values",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger, nullable=False),
        sa.Column("stat", sa.Text, nullable=False),
        sa.Column("field", sa.Text, nullable=False),
        sa.Column("instance", sa.Text, nullable=True),
        sa.Column("value", sa.Float(53), nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_expected_values")),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_expected_values_host_id_hosts"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_expected_values__host_id", "expected_values", ["host_id"])


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("expected_values")
    for name in ("earlier", "is_change", "label", "shift_s"):
        op.drop_column("imports", name)
    op.drop_column("streams", "shift_s")
