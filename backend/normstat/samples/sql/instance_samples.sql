-- Purpose: the places of all samples of one instance in a window, in the order of time.
-- Parameters: host_id int4; start, end timestamptz, half-open; instance_id int4; n int4.
-- Filled in by process_details.py: table.
-- Result: time, stream_id, line_offset of at most n samples.
-- Index: (host_id, time); reads every sample of the window, or as many as it takes to find n.
SELECT time, stream_id, line_offset
FROM {table} AS t
WHERE host_id = %(host_id)s
  AND time >= %(start)s
  AND time < %(end)s
  AND instance_id = %(instance_id)s
ORDER BY time, line_offset
LIMIT %(n)s
