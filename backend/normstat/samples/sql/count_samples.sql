-- Purpose: how many samples a host has of a stat in a window.
-- Parameters: host_id int4; start, end timestamptz, half-open.
-- Filled in by sample_counts.py: counts (of rows, and of values of each field that was asked for), table.
-- Result: one row of int8.
-- Index: (host_id, time).
SELECT {counts}
FROM {table} AS t
WHERE host_id = %(host_id)s
  AND time >= %(start)s
  AND time < %(end)s
