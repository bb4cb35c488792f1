"""sealed samples: blocks of packed rows.

Compatibility: code before 0022 works after it as long as nothing is sealed; it does not see samples in blocks. `normstat unseal
--all` gives all of them back as rows.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

HAS_BLOCKS = sa.text("SELECT EXISTS (SELECT FROM sealed_blocks WHERE n_rows > 0)")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "sealed_blocks",
        sa.Column("host_id", sa.Integer, nullable=False),
        sa.Column("stat_id", sa.Integer, nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n_rows", sa.Integer, nullable=False),
        sa.Column("n_values", sa.BigInteger, nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stream_ids", postgresql.ARRAY(sa.Integer), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("head", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "start_at", name=op.f("pk_sealed_blocks")),
    )
    op.create_index("uq_jobs__sealing", "jobs", ["kind"], unique=True, postgresql_where=sa.text("kind = 'sealing'"))
    # Already compressed; and parts of a body are read without the rest only where it is stored as it is.
    op.execute("ALTER TABLE sealed_blocks ALTER COLUMN head SET STORAGE EXTERNAL, ALTER COLUMN body SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Revert the change; refuses while samples are sealed, which would be lost."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    if op.get_bind().execute(HAS_BLOCKS).scalar_one():
        raise RuntimeError("Some samples are sealed; `normstat unseal --all` makes them rows again")
    op.drop_table("sealed_blocks")
    op.execute("DELETE FROM jobs WHERE kind = 'sealing'")
    op.drop_index("uq_jobs__sealing", "jobs")
