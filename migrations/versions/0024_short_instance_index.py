"""short instance index: the hash of a name as 16 bytes, not as 32 letters; a host may have had millions of processes.

Compatibility: code before 0024 finds instances without an index, slowly, and cannot reparse a stream that brings new instances.
"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("CREATE UNIQUE INDEX uq_instances__host_id_stat_id_name_hash ON instances (host_id, stat_id, (md5(name)::uuid))")
    op.drop_index("uq_instances__host_id_stat_id_name_md5", table_name="instances")


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("CREATE UNIQUE INDEX uq_instances__host_id_stat_id_name_md5 ON instances (host_id, stat_id, md5(name))")
    op.drop_index("uq_instances__host_id_stat_id_name_hash", table_name="instances")
