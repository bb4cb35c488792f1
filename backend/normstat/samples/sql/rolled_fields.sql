-- Purpose: which fields of a stat one host has values of in a window, by the blocks of its rollups.
-- Parameters: host_id int4; stat_id int4; keys text[] (fields of the stat); start, end timestamptz, half-open; levels int2[] and
-- lengths interval[] of their blocks, pairwise: levels that hold all hours between them.
-- Result: field_key text.
-- Index: rollups (host_id, stat_id, level, field_key, block_at), one lookup for each field and level.
SELECT key AS field_key
FROM unnest(%(keys)s::text[]) AS key
WHERE EXISTS (
    SELECT
    FROM unnest(%(levels)s::int2[], %(lengths)s::interval[]) AS wanted (number, length)
    CROSS JOIN LATERAL (
        SELECT
        FROM rollups
        WHERE host_id = %(host_id)s
          AND stat_id = %(stat_id)s
          AND level = wanted.number
          AND field_key = key
          AND block_at > %(start)s::timestamptz - wanted.length
          AND block_at < %(end)s::timestamptz
        LIMIT 1
    ) AS block
)
