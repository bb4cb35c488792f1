"""views: panels saved under a name, and the views that each account has starred.

Compatibility: code before 0016 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

NOW = sa.text("now()")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "views",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("panels", postgresql.JSONB(), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_views__owner_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_views")),
        sa.UniqueConstraint("key", name=op.f("uq_views__key")),
        sa.UniqueConstraint("owner_id", "name", name=op.f("uq_views__owner_id_name")),
    )
    op.create_table(
        "view_stars",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("view_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_view_stars__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "view_key", name=op.f("pk_view_stars")),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("view_stars")
    op.drop_table("views")
