-- Purpose: which of some instances are in reports of some times, and in what streams.
-- Parameters: host_id int4; start, end timestamptz, half-open; times timestamptz[]; instance_ids int4[].
-- Filled in by report_intervals.py: table.
-- Result: stream_id, instance_id.
-- Index: (host_id, time), a lookup for each time.
SELECT DISTINCT stream_id, instance_id
FROM {table} AS t
WHERE host_id = %(host_id)s
  AND time >= %(start)s
  AND time < %(end)s
  AND time = ANY (%(times)s::timestamptz[])
  AND instance_id = ANY (%(instance_ids)s::int4[])
