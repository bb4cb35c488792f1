-- Purpose: what each instance of a stat of a host did in a window.
-- Parameters: host_id int4; start, end timestamptz, half-open.
-- Filled in by process_list.py: sums (the number of samples, then for each field the number of its values int8, their sum float8 and the highest one float8, as
-- stored), table.
-- Result: instance_id, first and last time, then the sums, of each instance with a sample.
-- Index: (host_id, time); reads every sample of the window.
SELECT instance_id, min(time) AS first_at, max(time) AS last_at, {sums}
FROM {table} AS t
WHERE host_id = %(host_id)s
  AND time >= %(start)s
  AND time < %(end)s
GROUP BY instance_id
