"""Webhooks: who is told of changes of events, baselines, comparisons and experiments, and the outbox.

Compatibility: code before 0036 works after it, and tells nobody.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

UNSENT = sa.text("state IN ('queued', 'sending')")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    now = sa.text("now()")
    op.create_table(
        "webhooks",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("signing_key", sa.Text, nullable=False),
        sa.Column("topics", sa.ARRAY(sa.Text), nullable=False),
        sa.Column("is_enabled", sa.Boolean, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        sa.Column("updated_by", sa.Text, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        sa.Column("held_until", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("name", name="uq_webhooks__name"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column(
            "webhook_id",
            sa.BigInteger,
            sa.ForeignKey("webhooks.id", name="fk_webhook_deliveries__webhook_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("content", JSONB, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("n_tries", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        sa.Column("tried_at", sa.DateTime(timezone=True)),
        sa.Column("sent_at", sa.DateTime(timezone=True)),
        sa.Column("answer", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        sa.UniqueConstraint("key", name="uq_webhook_deliveries__key"),
    )
    op.create_index("ix_webhook_deliveries__unsent", "webhook_deliveries", ["webhook_id", "id"], postgresql_where=UNSENT)
    op.create_index("ix_webhook_deliveries__webhook_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_index("ix_webhook_deliveries__created_at", "webhook_deliveries", ["created_at"])


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
