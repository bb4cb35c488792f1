"""imports of files.

Compatibility: code for 0003 works after it, but never sets `is_finished`; imports need this change.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("streams", sa.Column("is_finished", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_table(
        "loads",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_loads__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_loads__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", "n_bytes", name=op.f("pk_loads")),
    )
    op.create_index("ix_loads__host_id_spec", "loads", ["host_id", "spec"])
    op.create_table(
        "imports",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=True),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("interval_s", sa.Float(precision=53), nullable=True),
        sa.Column("spec", sa.Text(), nullable=True),
        sa.Column("file_path", sa.Text(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("n_bytes_done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_files", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
    )
    op.create_table(
        "imported_files",
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("result", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["import_id"], ["imports.id"], name=op.f("fk_imported_files__import_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("import_id", "position", name=op.f("pk_imported_files")),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("imported_files")
    op.drop_table("imports")
    op.drop_table("loads")
    op.drop_column("streams", "is_finished")
