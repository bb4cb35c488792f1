"""artefacts: what tools printed once to answer a question.

Compatibility: code before 0025 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    now = sa.text("now()")

    def words(name: str) -> sa.Column[str]:
        return sa.Column(name, sa.Text, nullable=False, server_default="")

    op.create_table(
        "artefacts",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column(
            "host_id", sa.BigInteger, sa.ForeignKey("hosts.id", name="fk_artefacts__host_id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant),
        sa.Column("duration_s", sa.Float(53)),
        words("tool"),
        words("spec"),
        sa.Column("spec_version", sa.BigInteger, nullable=False, server_default="0"),
        words("title"),
        words("question"),
        words("command"),
        words("file_name"),
        sa.Column("effect", sa.Text, nullable=False, server_default="none"),
        sa.Column("source", sa.Text, nullable=False),
        words("author"),
        sa.Column("n_bytes", sa.BigInteger, nullable=False),
        sa.Column("n_lines", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("n_rejected", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("rejected", JSONB, nullable=False, server_default=sa.text("'[]'::jsonb")),
        sa.Column("sha256", sa.Text, nullable=False),
        words("search_text"),
        sa.Column("created_at", instant, nullable=False, server_default=now),
        sa.Column("updated_at", instant, nullable=False, server_default=now),
        sa.Column("deleted_at", instant),
    )
    op.create_index("ix_artefacts__host_id_start_at", "artefacts", ["host_id", "start_at"])
    op.create_index("ix_artefacts__start_at", "artefacts", ["start_at"])
    op.create_index("ix_artefacts__sha256", "artefacts", ["sha256"])
    for table in ("artefact_bytes", "artefact_parts"):
        owner = sa.ForeignKey("artefacts.id", name=f"fk_{table}__artefact_id", ondelete="CASCADE")
        columns = (
            [sa.Column("n_bytes", sa.BigInteger, nullable=False)]
            if table == "artefact_bytes"
            else [
                *(sa.Column(name, sa.Text, nullable=False) for name in ("kind", "stat", "title")),
                sa.Column("n_rows", sa.BigInteger, nullable=False),
            ]
        )
        op.create_table(
            table,
            sa.Column("artefact_id", sa.BigInteger, owner, primary_key=True),
            sa.Column("position", sa.BigInteger, primary_key=True),
            *columns,
            sa.Column("body", sa.LargeBinary, nullable=False),
        )
        # The bodies are compressed already.
        op.execute(f"ALTER TABLE {table} ALTER COLUMN body SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for table in ("artefact_parts", "artefact_bytes", "artefacts"):
        op.drop_table(table)
