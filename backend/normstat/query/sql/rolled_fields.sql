-- Purpose: which fields of a stat one host has values of, by the hours that are rolled up.
-- Parameters: host_id int4; stat_id int4; keys text[] (fields of the stat); start, end timestamptz: hours that begin after start and
-- before end.
-- Result: field_key text.
-- Index: rollups (host_id, stat_id, level, field_key, block_at), one look for each field.
SELECT key AS field_key
FROM unnest(%(keys)s::text[]) AS key
WHERE EXISTS (
    SELECT
    FROM rollups
    WHERE host_id = %(host_id)s
      AND stat_id = %(stat_id)s
      AND level = 0
      AND field_key = key
      AND block_at > %(start)s
      AND block_at < %(end)s
)
