"""Indexes by which the rows that an account or an agent token made in a day are counted, and who made a host group.

Compatibility: code before 0040 works after it; the host groups that it makes are nobody's.
"""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

TABLES = ("events", "artefacts", "experiment_runs")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("host_groups", sa.Column("created_by", sa.Text, nullable=False, server_default=""))
    op.add_column("host_groups", sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()))
    for table in TABLES:
        op.create_index(
            f"ix_{table}__author_created_at",
            table,
            ["author", "created_at"],
            postgresql_where=sa.text("author <> ''"),
        )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for column in ("created_at", "created_by"):
        op.drop_column("host_groups", column)
    for table in TABLES:
        op.drop_index(f"ix_{table}__author_created_at", table)
