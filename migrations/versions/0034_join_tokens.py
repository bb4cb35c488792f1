"""Join tokens, which hosts exchange for an agent token of their own, and agent tokens that take the place of others.

Compatibility: code before 0034 works after it. It rotates no token, and does not know that one has expired.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "join_tokens",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("host_pattern", sa.Text, nullable=False, server_default=""),
        sa.Column("tags", sa.ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'::text[]")),
        sa.Column("allows_takeover", sa.Boolean, nullable=False, server_default="false"),
        sa.Column("max_uses", sa.BigInteger, nullable=False),
        sa.Column("n_uses", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("token_hash", name="uq_join_tokens__token_hash"),
    )
    op.add_column("agent_tokens", sa.Column("join_token_id", sa.BigInteger))
    op.add_column("agent_tokens", sa.Column("replaces_id", sa.BigInteger))
    op.add_column("agent_tokens", sa.Column("rotation_asked_at", sa.DateTime(timezone=True)))
    op.add_column("agent_tokens", sa.Column("expires_at", sa.DateTime(timezone=True)))
    for column, table in (("join_token_id", "join_tokens"), ("replaces_id", "agent_tokens")):
        op.create_foreign_key(f"fk_agent_tokens__{column}", "agent_tokens", table, [column], ["id"], ondelete="SET NULL")
    op.create_index("ix_agent_tokens__replaces_id", "agent_tokens", ["replaces_id"])


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for name in ("expires_at", "rotation_asked_at", "replaces_id", "join_token_id"):
        op.drop_column("agent_tokens", name)
    op.drop_table("join_tokens")
