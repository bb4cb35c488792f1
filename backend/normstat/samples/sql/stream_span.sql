-- Purpose: where a window lies in the bytes of a stream: the lines of its samples around and in the window.
-- Parameters: host_id int4; stream_id int4; start, end timestamptz, half-open; back, ahead timestamptz, how far samples are looked for.
-- Filled in by stream_losses.py: table.
-- Result: time and line_offset of the last sample before the window; time and line_offset of the first and the last sample in it;
-- time and line_offset of the first sample after it. NULL where there is none.
-- Index: (host_id, time); reads every sample of the window, and those around it until one is of the stream.
WITH inside AS (
    SELECT min(time) AS first_at, min(line_offset) AS first_offset, max(time) AS last_at, max(line_offset) AS last_offset
    FROM {table} AS t
    WHERE host_id = %(host_id)s AND stream_id = %(stream_id)s AND time >= %(start)s AND time < %(end)s
),
before AS (
    SELECT time, line_offset
    FROM {table} AS t
    WHERE host_id = %(host_id)s AND stream_id = %(stream_id)s AND time >= %(back)s AND time < %(start)s
    ORDER BY time DESC, line_offset DESC
    LIMIT 1
),
after AS (
    SELECT time, line_offset
    FROM {table} AS t
    WHERE host_id = %(host_id)s AND stream_id = %(stream_id)s AND time >= %(end)s AND time < %(ahead)s
    ORDER BY time, line_offset
    LIMIT 1
)
SELECT
    before.time, before.line_offset, inside.first_at, inside.first_offset, inside.last_at, inside.last_offset, after.time, after.line_offset
FROM inside LEFT JOIN before ON true LEFT JOIN after ON true
