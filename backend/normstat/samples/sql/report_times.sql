-- Purpose: the times of the last report of a host before an instant, of the one before it, and of the first one from the instant on.
-- Parameters: host_id int4; start, end timestamptz: how far to look; until timestamptz, the instant.
-- Filled in by process_report.py: table.
-- Result: one row; time and stream_id of the last report, time and stream_id of the one before, time of the next one; NULL where there is none.
-- Index: (host_id, time), three lookups.
SELECT own.time, own.stream_id, earlier.time, earlier.stream_id, later.time
FROM (SELECT 1) AS one
LEFT JOIN LATERAL (
    SELECT time, stream_id
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(until)s
    ORDER BY time DESC
    LIMIT 1
) AS own ON TRUE
LEFT JOIN LATERAL (
    SELECT time, stream_id
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(until)s
      AND time < own.time
    ORDER BY time DESC
    LIMIT 1
) AS earlier ON TRUE
LEFT JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(until)s
      AND time < %(end)s
    ORDER BY time
    LIMIT 1
) AS later ON TRUE
