"""events: dated notes of people, scripts, agents and imports.

Code before 0015 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("start_at", instant, nullable=False),
        sa.Column("end_at", instant),
        sa.Column("not_before_at", instant),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("tags", ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'::text[]")),
        sa.Column("is_for_all_hosts", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", instant, nullable=False, server_default=sa.text("now()")),
        sa.Column("updated_at", instant, nullable=False, server_default=sa.text("now()")),
        sa.Column("deleted_at", instant),
        sa.Column("stream_id", sa.BigInteger, sa.ForeignKey("streams.id", name="fk_events__stream_id", ondelete="CASCADE")),
        sa.Column("line_offset", sa.BigInteger),
    )
    op.create_index("ix_events__start_at", "events", ["start_at"])
    op.create_index("ix_events__last_at", "events", [sa.text("coalesce(end_at, start_at)")])
    op.create_index("uq_events__stream_id_line_offset", "events", ["stream_id", "line_offset"], unique=True)
    op.create_table(
        "event_hosts",
        sa.Column(
            "event_id", sa.BigInteger, sa.ForeignKey("events.id", name="fk_event_hosts__event_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "host_id", sa.BigInteger, sa.ForeignKey("hosts.id", name="fk_event_hosts__host_id", ondelete="CASCADE"),
            primary_key=True,
        ),
    )  # fmt: skip
    op.create_index("ix_event_hosts__host_id", "event_hosts", ["host_id"])


def downgrade() -> None:
    op.drop_table("event_hosts")
    op.drop_table("events")
