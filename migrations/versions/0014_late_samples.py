"""late samples: how often samples came for a time that a stream had passed, so that cached comparisons are known to be outdated.

Code before 0014 works after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("stream_changes", sa.Column("n_late", sa.BigInteger, nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("stream_changes", "n_late")
