"""Links that show one comparison or report without a login, for a while.

Compatibility: code before 0035 works after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "share_links",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("comparison_id", sa.BigInteger),
        sa.Column("report_id", sa.BigInteger),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("n_opened", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("last_opened_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("token_hash", name="uq_share_links__token_hash"),
        sa.ForeignKeyConstraint(["comparison_id"], ["comparisons.id"], "fk_share_links__comparison_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["report_id"], ["reports.id"], "fk_share_links__report_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("share_links")
