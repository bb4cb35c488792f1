"""streams of repeated calls: outdated, since each call is now a run of its own, dated by its epoch line.

Their specs are the same, so that their versions tell nothing: until a reparse, the streams count as read without a spec (version 0).
The state of their readers is derived from their bytes again before more bytes are read. Code before 0013 works after it.
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("UPDATE streams SET spec_version = 0, reader_version = 0 WHERE command LIKE '@%' AND acked_offset > 0")


def downgrade() -> None:
    pass
