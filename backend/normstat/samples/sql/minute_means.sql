-- Purpose: the means of fields of a stat by minute, of some instances of many hosts, as one row of packed numbers.
-- Parameters: host_ids, instance_ids int4[]; start, end timestamptz, half-open.
-- Filled in by minute_means.py: sums (the mean of each field, as stored), packed (the bytes of each), table.
-- Result: one row; bytea of big-endian numbers: instance_id, minute of the epoch, number of rows (int4), then the means (float4).
-- Index: (host_id, time), a range for each host; reads every sample of the window.
SELECT
    string_agg(int4send(instance_id), NULL),
    string_agg(int4send(minute), NULL),
    string_agg(int4send(n), NULL),
    {packed}
FROM (
    SELECT instance_id, floor(date_part('epoch', time) / 60)::int4 AS minute, count(*)::int4 AS n, {means}
    FROM {table} AS t
    WHERE host_id = ANY (%(host_ids)s::int4[])
      AND time >= %(start)s
      AND time < %(end)s
      AND instance_id = ANY (%(instance_ids)s::int4[])
    GROUP BY instance_id, floor(date_part('epoch', time) / 60)::int4
) AS minutes
