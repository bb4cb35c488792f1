"""packed chunks: old raw bytes of a stream together, a third of the size.

Compatibility: code before 0023 works after it until the first chunks are packed, a day after this; then it cannot find old raw bytes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "packed_chunks",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("start_offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger(), nullable=False),
        sa.Column("n_chunks", sa.Integer(), nullable=False),
        sa.Column("last_received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("directory", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_packed_chunks__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", "start_offset", name=op.f("pk_packed_chunks")),
    )
    # Compressed already; and only so is a part of a value read without the rest.
    op.execute("ALTER TABLE packed_chunks ALTER COLUMN directory SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE packed_chunks ALTER COLUMN body SET STORAGE EXTERNAL")
    op.add_column("stream_changes", sa.Column("packed_to", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("stream_changes", sa.Column("packed_bytes", sa.BigInteger(), server_default="0", nullable=False))
    op.create_index("uq_jobs__packing", "jobs", ["kind"], unique=True, postgresql_where=sa.text("kind = 'packing'"))


def downgrade() -> None:
    """Revert the change, while nothing is packed: older code has no way to read it."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM packed_chunks) THEN
                RAISE EXCEPTION 'raw bytes are packed: restore a backup from before 0023 to go back';
            END IF;
        END $$
    """)
    op.execute("DELETE FROM jobs WHERE kind = 'packing'")
    op.drop_index("uq_jobs__packing", table_name="jobs")
    op.drop_column("stream_changes", "packed_bytes")
    op.drop_column("stream_changes", "packed_to")
    op.drop_table("packed_chunks")
