-- Purpose: the times of a few reports in a row of each of some streams, at each of some instants of a window.
-- Parameters: host_id int4; start, end timestamptz, half-open; probes timestamptz[]; stream_ids int4[], firsts and lasts timestamptz[]
-- (first and last sample of each stream).
-- Filled in by report_intervals.py: table; own (whether a row is of the stream: always true for streams that follow each other, because the
-- planner without statistics expects a filter by stream to leave hardly anything, and sorts the whole window).
-- Result: probe timestamptz, stream_id, times timestamptz[] of four reports, where there are as many.
-- Index: (host_id, time), four lookups for each probe and stream: 9 probes take some 8 ms. As in coverage.sql, the window's ends are part of
-- each lookup because the planner leaves chunks out by them.
SELECT probe.at, stream.id, ARRAY[first.time, second.time, third.time, fourth.time]
FROM unnest(%(stream_ids)s::int4[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]) AS stream (id, first_at, last_at)
JOIN unnest(%(probes)s::timestamptz[]) AS probe (at) ON probe.at <= stream.last_at
CROSS JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND time >= greatest(probe.at, stream.first_at)
      AND time <= stream.last_at
      AND {own}
    ORDER BY time
    LIMIT 1
) AS first
CROSS JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND time > first.time
      AND time <= stream.last_at
      AND {own}
    ORDER BY time
    LIMIT 1
) AS second
CROSS JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND time > second.time
      AND time <= stream.last_at
      AND {own}
    ORDER BY time
    LIMIT 1
) AS third
CROSS JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND time > third.time
      AND time <= stream.last_at
      AND {own}
    ORDER BY time
    LIMIT 1
) AS fourth
