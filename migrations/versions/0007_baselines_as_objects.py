"""baselines as objects: versions, rules, host groups, exclusions, mutes, profiles, saved comparisons.

Compatibility: code before 0007 works after it, but creates baselines without a version row.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NOW = sa.text("now()")


def made_id() -> sa.Column:
    """Return an identity column."""
    return sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False)


def instant(name: str, **more: object) -> sa.Column:
    """Return a timestamp column that is never NULL."""
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, **more)


def text(name: str, **more: object) -> sa.Column:
    """Return a text column that is never NULL."""
    return sa.Column(name, sa.Text(), nullable=False, **more)


def number(name: str) -> sa.Column:
    """Return a column for the id of another table's row."""
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def points_to(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    """Return a foreign key with ON DELETE CASCADE."""
    name = op.f(f"fk_{table}__{column}_{other}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "host_groups",
        made_id(),
        text("name"),
        text("note", server_default=""),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host_groups")),
        sa.UniqueConstraint("name", name=op.f("uq_host_groups__name")),
    )
    op.create_table(
        "host_group_hosts",
        number("group_id"),
        number("host_id"),
        points_to("host_group_hosts", "group_id", "host_groups"),
        points_to("host_group_hosts", "host_id", "hosts"),
        sa.PrimaryKeyConstraint("group_id", "host_id", name=op.f("pk_host_group_hosts")),
    )
    for column in (
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        text("time_zone", server_default="UTC"),
        sa.Column("rrule", sa.Text(), nullable=True),
        sa.Column("rule_start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rule_duration_s", sa.Integer(), nullable=True),
        sa.Column("keep_days", sa.Integer(), nullable=True),
        sa.Column("recording_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("group_id", sa.BigInteger(), nullable=True),
    ):
        op.add_column("baselines", column)
    op.create_foreign_key(
        op.f("fk_baselines__group_id_host_groups"),
        "baselines",
        "host_groups",
        ["group_id"],
        ["id"],
        ondelete="SET NULL",
    )
    make_versions()
    make_what_is_left_out()
    make_profiles()
    op.execute("INSERT INTO profile_jobs (baseline_id, host_id) SELECT baseline_id, host_id FROM baseline_hosts")


def make_versions() -> None:
    """Create the version table, with the newest version of each baseline; older ones are unknown."""
    op.create_table(
        "baseline_versions",
        number("baseline_id"),
        number("version"),
        sa.Column("windows", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("hosts", postgresql.ARRAY(sa.Text()), nullable=False),
        text("time_zone", server_default="UTC"),
        text("reason"),
        text("made_by"),
        instant("made_at", server_default=NOW),
        points_to("baseline_versions", "baseline_id", "baselines"),
        sa.PrimaryKeyConstraint("baseline_id", "version", name=op.f("pk_baseline_versions")),
    )
    op.execute("""
        INSERT INTO baseline_versions
            (baseline_id, version, windows, hosts, reason, made_by, made_at)
        SELECT b.id, b.version, b.windows,
            ARRAY(
                SELECT h.name FROM baseline_hosts AS bh JOIN hosts AS h ON h.id = bh.host_id
                WHERE bh.baseline_id = b.id ORDER BY h.name
            ),
            'the newest version when versions began to be kept', b.created_by, b.updated_at
        FROM baselines AS b
    """)


def make_what_is_left_out() -> None:
    """Create the tables of exclusions, mutes and saved comparisons."""
    op.create_table(
        "exclusions",
        made_id(),
        text("name"),
        text("note", server_default=""),
        instant("start_at"),
        instant("end_at"),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        text("created_by"),
        instant("created_at", server_default=NOW),
        points_to("exclusions", "host_id", "hosts"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exclusions")),
    )
    op.create_table(
        "muted_series",
        made_id(),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        text("stat"),
        text("field"),
        sa.Column("instance", sa.Text(), nullable=True),
        text("reason", server_default=""),
        text("created_by"),
        instant("created_at", server_default=NOW),
        points_to("muted_series", "host_id", "hosts"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_muted_series")),
    )
    op.create_table(
        "comparisons",
        made_id(),
        text("name"),
        text("note", server_default=""),
        sa.Column("inputs", postgresql.JSONB(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        text("created_by"),
        instant("created_at", server_default=NOW),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparisons")),
    )


def make_profiles() -> None:
    """Create the tables of profiles, their sketches and their jobs."""
    op.create_table(
        "profile_pieces",
        number("host_id"),
        number("stat_id"),
        instant("start_at"),
        instant("end_at"),
        sa.Column("method", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("n_rows", sa.BigInteger(), nullable=False),
        instant("made_at", server_default=NOW),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        points_to("profile_pieces", "host_id", "hosts"),
        points_to("profile_pieces", "stat_id", "stats"),
        sa.PrimaryKeyConstraint(
            "host_id",
            "stat_id",
            "start_at",
            "end_at",
            "method",
            name=op.f("pk_profile_pieces"),
        ),
    )
    op.create_table(
        "profiles",
        number("baseline_id"),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        number("host_id"),
        number("stat_id"),
        sa.Column("method", sa.SmallInteger(), autoincrement=False, nullable=False),
        instant("made_at", server_default=NOW),
        sa.Column("effective", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        points_to("profiles", "baseline_id", "baselines"),
        points_to("profiles", "host_id", "hosts"),
        points_to("profiles", "stat_id", "stats"),
        sa.PrimaryKeyConstraint(
            "baseline_id",
            "version",
            "host_id",
            "stat_id",
            "method",
            name=op.f("pk_profiles"),
        ),
    )
    op.create_table(
        "profile_jobs",
        number("baseline_id"),
        number("host_id"),
        text("state", server_default="waiting"),
        sa.Column("n_done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("n_total", sa.Integer(), server_default="0", nullable=False),
        text("message", server_default=""),
        instant("asked_at", server_default=NOW),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        points_to("profile_jobs", "baseline_id", "baselines"),
        points_to("profile_jobs", "host_id", "hosts"),
        sa.PrimaryKeyConstraint("baseline_id", "host_id", name=op.f("pk_profile_jobs")),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for table in (
        "profile_jobs",
        "profiles",
        "profile_pieces",
        "comparisons",
        "muted_series",
        "exclusions",
        "baseline_versions",
    ):
        op.drop_table(table)
    for column in (
        "archived_at",
        "time_zone",
        "rrule",
        "rule_start_at",
        "rule_duration_s",
        "keep_days",
        "recording_until",
        "group_id",
    ):
        op.drop_column("baselines", column)
    op.drop_table("host_group_hosts")
    op.drop_table("host_groups")
