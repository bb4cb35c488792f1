-- Purpose: the samples of some instances of many hosts, each host in windows of its own, as one row of packed numbers.
-- Parameters: host_ids int4[], starts, ends timestamptz[], one for each window; instance_ids int4[]; start, end timestamptz that
-- hold all windows, by which the planner leaves chunks out.
-- Filled in by minute_means.py: packed (the bytes of each field, as stored), table.
-- Result: one row; bytea of big-endian numbers: instance_id, minute of the epoch (int4), then the values (float4).
-- Index: (host_id, time), a range for each window; reads every sample of the windows.
SELECT
    string_agg(int4send(t.instance_id), NULL),
    string_agg(int4send(floor(date_part('epoch', t.time) / 60)::int4), NULL),
    {packed}
FROM unnest(%(host_ids)s::int4[], %(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (host_id, start_at, end_at)
INNER JOIN {table} AS t ON t.host_id = span.host_id AND t.time >= span.start_at AND t.time < span.end_at
WHERE t.time >= %(start)s
  AND t.time < %(end)s
  AND t.instance_id = ANY (%(instance_ids)s::int4[])
