"""stored profiles: one row per host and seasonal slot; the end and the spec version of each sketch.

Compatibility: code before 0008 works after it while there are no profiles, because it would not
notice late samples for one. No earlier code created profiles.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NOW = sa.text("now()")


def number(name: str) -> sa.Column:
    """Return a column for the id of another table's row."""
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def points_to(column: str, other: str) -> sa.ForeignKeyConstraint:
    """Return a foreign key with ON DELETE CASCADE."""
    name = op.f(f"fk_profiles__{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("hosts", sa.Column("profiled_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("profile_pieces", sa.Column("spec_version", sa.Integer(), server_default="0", nullable=False))
    # Already compressed.
    op.execute("ALTER TABLE profile_pieces ALTER COLUMN body SET STORAGE EXTERNAL")
    op.drop_table("profiles")
    op.create_table(
        "profiles",
        number("baseline_id"),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        number("host_id"),
        sa.Column("slot", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("method", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("until_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("effective", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("is_stale", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("spec_versions", postgresql.JSONB(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("band", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        points_to("baseline_id", "baselines"),
        points_to("host_id", "hosts"),
        sa.PrimaryKeyConstraint("baseline_id", "version", "host_id", "slot", "method", name=op.f("pk_profiles")),
    )
    op.execute("ALTER TABLE profiles ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN band SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("profiles")
    op.create_table(
        "profiles",
        number("baseline_id"),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        number("host_id"),
        number("stat_id"),
        sa.Column("method", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=NOW, nullable=False),
        sa.Column("effective", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        points_to("baseline_id", "baselines"),
        points_to("host_id", "hosts"),
        points_to("stat_id", "stats"),
        sa.PrimaryKeyConstraint("baseline_id", "version", "host_id", "stat_id", "method", name=op.f("pk_profiles")),
    )
    op.execute("DELETE FROM profile_pieces")
    op.drop_column("profile_pieces", "spec_version")
    op.drop_column("hosts", "profiled_until")
