"""data life cycle: what retention deleted, and the identity of the database for backups.

Compatibility: code before 0006 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "retention_runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("n_samples", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_instances", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_chunks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_chunk_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retention_runs")),
    )
    op.create_table(
        "retention_marks",
        sa.Column("stat", sa.Text(), nullable=False),
        sa.Column("kept_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "marked_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("stat", name=op.f("pk_retention_marks")),
    )
    op.create_table(
        "stream_changes",
        sa.Column("stream_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kept_from", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_replaced", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["stream_id"],
            ["streams.id"],
            name=op.f("fk_stream_changes__stream_id_streams"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("stream_id", name=op.f("pk_stream_changes")),
    )
    op.create_table(
        "store_identity",
        sa.Column(
            "id",
            postgresql.UUID(),
            server_default=sa.text("gen_random_uuid()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_store_identity")),
    )
    op.execute("INSERT INTO store_identity DEFAULT VALUES")


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for table in (
        "store_identity",
        "stream_changes",
        "retention_marks",
        "retention_runs",
    ):
        op.drop_table(table)
