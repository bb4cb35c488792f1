-- Purpose: the first reports of a stream in a window: where its samples of one instant stand.
-- Parameters: host_id int4; stream_id int4; start, end timestamptz, half-open; n int8, how many reports.
-- Filled in by bundle_rows.py: table.
-- Result: time; line_offset of the first and of the last sample, in bytes from the beginning of the stream.
-- Index: (host_id, time), read until n instants of the stream were met.
SELECT time, min(line_offset), max(line_offset)
FROM {table} AS t
WHERE host_id = %(host_id)s AND stream_id = %(stream_id)s AND time >= %(start)s AND time < %(end)s
GROUP BY time
ORDER BY time
LIMIT %(n)s
