"""experiments: named sets of runs with factors, and what each run measured.

Compatibility: code before 0027 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0027"
down_revision = "0026"
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

    def owner(table: str, column: str, parent: str, *, is_key: bool = False) -> sa.Column[int]:
        key = sa.ForeignKey(f"{parent}.id", name=f"fk_{table}__{column}", ondelete="CASCADE")
        return sa.Column(column, sa.BigInteger, key, nullable=False, primary_key=is_key)

    def dates() -> list[sa.Column[object]]:
        return [
            sa.Column("created_at", instant, nullable=False, server_default=now),
            sa.Column("updated_at", instant, nullable=False, server_default=now),
            sa.Column("deleted_at", instant),
        ]

    op.create_table(
        "experiments",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        words("title"),
        words("note"),
        words("author"),
        *dates(),
    )
    op.create_index(
        "uq_experiments__name", "experiments", ["name"], unique=True, postgresql_where=sa.text("deleted_at IS NULL")
    )
    op.create_table(
        "experiment_runs",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        owner("experiment_runs", "experiment_id", "experiments"),
        owner("experiment_runs", "host_id", "hosts"),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant),
        sa.Column("factors", JSONB, nullable=False, server_default=sa.text("'{}'::jsonb")),
        words("command"),
        sa.Column("exit_status", sa.BigInteger),
        words("note"),
        words("excluded_reason"),
        sa.Column("source", sa.Text, nullable=False),
        words("author"),
        *dates(),
    )
    op.create_index("ix_experiment_runs__experiment_id_start_at", "experiment_runs", ["experiment_id", "start_at"])
    op.create_index("ix_experiment_runs__host_id_start_at", "experiment_runs", ["host_id", "start_at"])
    op.create_table(
        "run_results",
        owner("run_results", "run_id", "experiment_runs", is_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Float(53), nullable=False),
        words("unit"),
    )
    op.create_table(
        "run_artefacts",
        owner("run_artefacts", "run_id", "experiment_runs", is_key=True),
        owner("run_artefacts", "artefact_id", "artefacts", is_key=True),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for table in ("run_artefacts", "run_results", "experiment_runs", "experiments"):
        op.drop_table(table)
