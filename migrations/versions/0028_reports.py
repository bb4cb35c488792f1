"""reports: ordered notes of people, with frozen graphs, comparisons and files.

Compatibility: code before 0028 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    now = sa.text("now()")

    def text(name: str) -> sa.Column[str]:
        return sa.Column(name, sa.Text, nullable=False)

    def number(name: str, default: str | None = None) -> sa.Column[int]:
        return sa.Column(name, sa.BigInteger, nullable=False, server_default=default)

    def key() -> sa.Column[int]:
        return sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True)

    def owner(table: str) -> sa.Column[int]:
        foreign = sa.ForeignKey("reports.id", name=f"fk_{table}__report_id", ondelete="CASCADE")
        return sa.Column("report_id", sa.BigInteger, foreign, nullable=False)

    op.create_table(
        "reports",
        key(),
        text("title"),
        sa.Column("is_template", sa.Boolean, nullable=False),
        sa.Column("hosts", JSONB, nullable=False),
        sa.Column("start_at", instant),
        sa.Column("end_at", instant),
        text("author"),
        number("revision", "1"),
        sa.Column("created_at", instant, nullable=False, server_default=now),
        sa.Column("updated_at", instant, nullable=False, server_default=now),
        text("updated_by"),
        sa.Column("deleted_at", instant),
    )
    op.create_table(
        "report_notes",
        key(),
        owner("report_notes"),
        number("position"),
        sa.Column("content", JSONB, nullable=False),
        sa.Column("frozen", sa.LargeBinary),
        sa.Column("frozen_at", instant),
        number("revision", "1"),
        text("author"),
        sa.Column("updated_at", instant, nullable=False, server_default=now),
        text("updated_by"),
        sa.Column("deleted_at", instant),
    )
    op.create_index("ix_report_notes__report_id_position", "report_notes", ["report_id", "position"])
    op.create_table(
        "report_files",
        key(),
        owner("report_files"),
        text("name"),
        text("media_type"),
        number("n_bytes"),
        text("sha256"),
        text("author"),
        sa.Column("created_at", instant, nullable=False, server_default=now),
    )
    op.create_index("ix_report_files__report_id", "report_files", ["report_id"])
    op.create_table(
        "report_file_bytes",
        sa.Column(
            "file_id", sa.BigInteger, sa.ForeignKey("report_files.id", name="fk_report_file_bytes__file_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("position", sa.BigInteger, primary_key=True),
        number("n_bytes"),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )  # fmt: skip
    # Images and frozen notes are compressed already.
    op.execute("ALTER TABLE report_file_bytes ALTER COLUMN body SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE report_notes ALTER COLUMN frozen SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for table in ("report_file_bytes", "report_files", "report_notes", "reports"):
        op.drop_table(table)
