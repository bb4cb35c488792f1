-- Purpose: which columns of stats some hosts have values of, by the blocks of their rollups.
-- Parameters: hosts int4[]; stats int4[] and keys text[], pairwise; levels int2[].
-- Result: stat_id int4, field_key text.
-- Index: rollups (host_id, stat_id, level, field_key, block_at), at most one lookup for each host, column and level.
SELECT stat_id, field_key
FROM unnest(%(stats)s::int4[], %(keys)s::text[]) AS wanted (stat_id, field_key)
WHERE EXISTS (
    SELECT
    FROM unnest(%(hosts)s::int4[]) AS host
    CROSS JOIN unnest(%(levels)s::int2[]) AS number
    CROSS JOIN LATERAL (
        SELECT
        FROM rollups
        WHERE host_id = host
          AND stat_id = wanted.stat_id
          AND level = number
          AND field_key = wanted.field_key
        LIMIT 1
    ) AS block
)
