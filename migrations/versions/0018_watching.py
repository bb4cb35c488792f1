"""watching: rules, their limits and backtests, episodes, states, mutes; and since when samples came late that no rule judged.

Compatibility: code before 0018 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("stream_changes", sa.Column("late_from", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "watch_rules",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("stopped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stopped_why", sa.Text(), server_default="", nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_watch_rules")),
    )
    op.create_table(
        "watch_rule_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=True),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_rule_changes")),
    )
    op.create_index("ix_watch_rule_changes__rule_id", "watch_rule_changes", ["rule", "id"], unique=False)
    op.create_table(
        "watch_limits",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(precision=53), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watch_limits__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_limits")),
    )
    op.create_index(op.f("ix_watch_limits__rule"), "watch_limits", ["rule"], unique=False)
    op.create_table(
        "backtests",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("hosts", postgresql.JSONB(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("result", postgresql.JSONB(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_backtests__job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backtests")),
        sa.UniqueConstraint("job_id", name=op.f("uq_backtests__job_id")),
    )
    op.create_index("ix_backtests__rule_version", "backtests", ["rule", "version"], unique=False)
    op.create_table(
        "episodes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_version", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("instance", sa.Text(), server_default="", nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.Column("colour", sa.Text(), nullable=False),
        sa.Column("worst_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("saw", postgresql.JSONB(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acknowledged_by", sa.Text(), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("exclusion_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["exclusion_id"], ["exclusions.id"], name=op.f("fk_episodes__exclusion_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_episodes__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_episodes")),
    )
    op.create_index("ix_episodes__host_id_start_at", "episodes", ["host_id", "start_at"], unique=False)
    op.create_index(
        "ix_episodes__open", "episodes", ["source", "host_id"], unique=False, postgresql_where=sa.text("ended_at IS NULL")
    )
    op.create_index("ix_episodes__start_at", "episodes", ["start_at"], unique=False)
    op.create_index(
        "uq_episodes__source",
        "episodes",
        ["source", sa.literal_column("coalesce(host_id, 0)"), sa.literal_column("md5(instance)"), "start_at"],
        unique=True,
    )
    op.create_table(
        "watched_states",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("colour", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watched_states__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "source", "from_at", name=op.f("pk_watched_states")),
    )
    op.create_table(
        "watched_hosts",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("since_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("progress", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watched_hosts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", name=op.f("pk_watched_hosts")),
    )
    op.create_table(
        "watch_mutes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("instance", sa.Text(), nullable=True),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watch_mutes__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_mutes")),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("watch_mutes")
    op.drop_table("watched_hosts")
    op.drop_table("watched_states")
    op.drop_table("episodes")
    op.drop_table("backtests")
    op.drop_table("watch_limits")
    op.drop_table("watch_rule_changes")
    op.drop_table("watch_rules")
    op.drop_column("stream_changes", "late_from")
