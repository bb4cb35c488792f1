"""host_scores: how far each host was from its normal, minute by minute, by the continuous comparison.

Compatibility: code before 0019 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    scores = ARRAY(sa.REAL)
    op.create_table(
        "host_scores",
        sa.Column(
            "host_id",
            sa.BigInteger,
            sa.ForeignKey("hosts.id", name="fk_host_scores__host_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("minute_at", instant, primary_key=True),
        sa.Column("method", sa.SmallInteger, nullable=False),
        # No reference: a deleted baseline was what the minute was compared with all the same.
        sa.Column("baseline_id", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("n_judged", sa.Integer, nullable=False),
        sa.Column("scores_1", scores, nullable=False),
        sa.Column("scores_5", scores, nullable=False),
        sa.Column("scores_15", scores, nullable=False),
        sa.Column("findings", JSONB, nullable=False, server_default=sa.text("'[]'::jsonb")),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("host_scores")
