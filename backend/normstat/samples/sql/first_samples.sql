-- Purpose: the first sample of each of some instances in a window.
-- Parameters: host_id int4; start, end timestamptz, half-open; instance_ids int4[].
-- Filled in by process_details.py: table.
-- Result: instance_id, time, stream_id, line_offset.
-- Index: (host_id, time); reads every sample of the window.
SELECT DISTINCT ON (instance_id) instance_id, time, stream_id, line_offset
FROM {table} AS t
WHERE host_id = %(host_id)s
  AND time >= %(start)s
  AND time < %(end)s
  AND instance_id = ANY (%(instance_ids)s::int4[])
ORDER BY instance_id, time, line_offset
