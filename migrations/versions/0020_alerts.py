"""alerts: channels, routes, the alerts that routes make of episodes, and the outbox of their messages.

Compatibility: code before 0020 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    now = sa.text("now()")
    op.create_table(
        "alert_channels",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", JSONB(), nullable=False),
        sa.Column("secrets", JSONB(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", instant, server_default=now, nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", instant, server_default=now, nullable=False),
        sa.Column("held_until", instant, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_channels")),
        sa.UniqueConstraint("name", name=op.f("uq_alert_channels__name")),
    )
    op.create_table(
        "alert_routes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("settings", JSONB(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", instant, server_default=now, nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", instant, server_default=now, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_routes")),
        sa.UniqueConstraint("name", name=op.f("uq_alert_routes__name")),
    )
    op.create_table(
        "alerts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("route_id", sa.BigInteger(), nullable=True),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("opened_at", instant, nullable=False),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("due_at", instant, nullable=False),
        sa.Column("fired_at", instant, nullable=True),
        sa.Column("told_at", instant, nullable=True),
        sa.Column("renewed_at", instant, nullable=True),
        sa.Column("told_colour", sa.Text(), server_default="", nullable=False),
        sa.Column("told", JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("level", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_messages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("calm_since", instant, nullable=True),
        sa.Column("resolved_at", instant, nullable=True),
        sa.Column("acknowledged_at", instant, nullable=True),
        sa.Column("acknowledged_by", sa.Text(), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("silence_key", sa.LargeBinary(), nullable=False),
        sa.Column("silenced_at", instant, nullable=True),
        sa.ForeignKeyConstraint(["route_id"], ["alert_routes.id"], name=op.f("fk_alerts__route_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_alerts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
    )
    op.create_index(
        "ix_alerts__open", "alerts", ["route_id"], unique=False, postgresql_where=sa.text("state IN ('waiting', 'firing')")
    )
    op.create_index("ix_alerts__opened_at", "alerts", ["opened_at"], unique=False)
    op.create_table(
        "alert_episodes",
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("episode_id", sa.BigInteger(), nullable=False),
        sa.Column("route_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name=op.f("fk_alert_episodes__alert_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_alert_episodes__episode_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("alert_id", "episode_id", name=op.f("pk_alert_episodes")),
        sa.UniqueConstraint("route_id", "episode_id", name=op.f("uq_alert_episodes__route_id_episode_id")),
    )
    op.create_index(op.f("ix_alert_episodes__episode_id"), "alert_episodes", ["episode_id"], unique=False)
    op.create_table(
        "alert_messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("content", JSONB(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("n_tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("next_try_at", instant, nullable=False),
        sa.Column("tried_at", instant, nullable=True),
        sa.Column("sent_at", instant, nullable=True),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", instant, server_default=now, nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name=op.f("fk_alert_messages__alert_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["alert_channels.id"], name=op.f("fk_alert_messages__channel_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_messages")),
        sa.UniqueConstraint("alert_id", "number", "channel_id", name=op.f("uq_alert_messages__alert_id_number_channel_id")),
        sa.UniqueConstraint("key", name=op.f("uq_alert_messages__key")),
    )
    op.create_index(
        "ix_alert_messages__unsent",
        "alert_messages",
        ["channel_id", "alert_id", "number"],
        unique=False,
        postgresql_where=sa.text("state IN ('queued', 'sending')"),
    )
    op.create_index(op.f("ix_alert_messages__channel_id"), "alert_messages", ["channel_id"], unique=False)


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("alert_messages")
    op.drop_table("alert_episodes")
    op.drop_table("alerts")
    op.drop_table("alert_routes")
    op.drop_table("alert_channels")
