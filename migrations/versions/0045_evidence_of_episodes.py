"""Artefacts that a host took as an episode began know it.

Compatibility: code before 0045 works after it; artefacts that it stores are of no episode.
"""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("artefacts", sa.Column("episode_id", sa.BigInteger, nullable=True))
    op.create_foreign_key(
        op.f("fk_artefacts_episode_id_episodes"),
        "artefacts",
        "episodes",
        ["episode_id"],
        ["id"],
        ondelete="SET NULL",
    )
    op.create_index(
        "ix_artefacts__episode_id",
        "artefacts",
        ["episode_id"],
        postgresql_where=sa.text("episode_id IS NOT NULL"),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_column("artefacts", "episode_id")
