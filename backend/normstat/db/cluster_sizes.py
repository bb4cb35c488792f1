"""Disk usage of the shards of a Citus cluster: the coordinator's own tables of that name are empty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.connecting import is_citus

# Each worker adds up its shards, whose names end in a number. A worker that is away is left out.
SIZES: Final = text("""
    SELECT part->>'schema' AS schema, part->>'name' AS name, sum((part->>'table_bytes')::int8)::int8 AS table_bytes,
        sum((part->>'index_bytes')::int8)::int8 AS index_bytes, sum((part->>'n_rows')::float8)::int8 AS n_rows
    FROM run_command_on_workers($command$
        SELECT coalesce(json_agg(sized), '[]')::text FROM (
            SELECT c.relnamespace::regnamespace::text AS schema, regexp_replace(c.relname, '_[0-9]+$', '') AS name,
                sum(pg_table_size(c.oid)) AS table_bytes, sum(pg_indexes_size(c.oid)) AS index_bytes,
                sum(CASE WHEN c.reltuples > 0 THEN c.reltuples ELSE greatest(s.n_live_tup, 0) END) AS n_rows
            FROM pg_class AS c LEFT JOIN pg_stat_all_tables AS s ON s.relid = c.oid
            WHERE c.relnamespace IN (to_regnamespace('public'), to_regnamespace('samples')) AND c.relkind = 'r'
                AND c.relname ~ '_[0-9]{6,}$'
            GROUP BY 1, 2
            UNION ALL
            SELECT '', '', pg_database_size(current_database()), 0, 0
        ) AS sized
    $command$) AS worker
    CROSS JOIN LATERAL json_array_elements(CASE WHEN worker.success THEN worker.result::json ELSE '[]' END) AS part
    GROUP BY 1, 2
    ORDER BY 1, 2
""")


@dataclass(frozen=True, slots=True)
class ShardSizes:
    """Disk usage of the shards of a table on all workers; `n_rows` is an estimate of their catalogues."""

    table_bytes: int = 0
    index_bytes: int = 0
    n_rows: int = 0

    @property
    def n_bytes(self) -> int:
        """The size with indexes."""
        return self.table_bytes + self.index_bytes


NO_SHARDS: Final = ShardSizes()
# The key of a whole database: a table without a name.
WHOLE: Final = ("", "")


async def read_shard_sizes(session: AsyncSession) -> Mapping[tuple[str, str], ShardSizes]:
    """Return the sizes by schema and table, and under WHOLE those of the workers' databases. Missing: empty on one database"""
    if not is_citus():
        return {}
    rows = await session.execute(SIZES)
    return {(row.schema, row.name): ShardSizes(row.table_bytes, row.index_bytes, row.n_rows) for row in rows}
