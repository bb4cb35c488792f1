-- Purpose: the first and the last sample of a host in each of equal steps of a window, without reading what lies between.
-- Parameters: host_id int4; start, end timestamptz, half-open; step interval; n_steps int4.
-- Filled in by report_coverage.py: table.
-- Result: first_at, last_at timestamptz of every step that has a sample, in order.
-- Index: (host_id, time), two lookups for each step: 1200 steps take about 20 ms, however many samples there are. Each lookup costs
-- about 15 us for each chunk of a hypertable in the window, so call it for a few days at a time. The window's ends are part of each lookup
-- because the planner leaves chunks out by them; it cannot by the steps.
SELECT first.time AS first_at, last.time AS last_at
FROM generate_series(0, %(n_steps)s - 1) AS step (number)
CROSS JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND time >= %(start)s + step.number * %(step)s::interval
      AND time < least(%(start)s + (step.number + 1) * %(step)s::interval, %(end)s::timestamptz)
    ORDER BY time
    LIMIT 1
) AS first
CROSS JOIN LATERAL (
    SELECT time
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND time >= first.time
      AND time < least(%(start)s + (step.number + 1) * %(step)s::interval, %(end)s::timestamptz)
    ORDER BY time DESC
    LIMIT 1
) AS last
ORDER BY step.number
