-- Purpose: which fields of a stat have a value in a window, searching at most n_rows of its first rows.
-- Parameters: host_id int4; start, end timestamptz, half-open; n_rows int8.
-- Filled in by sample_counts.py: counts (of rows, and of values of each field), columns (time and the fields), table.
-- Result: one row of int8; the number of rows is n_rows where there may be more.
-- Index: (host_id, time), read in order up to n_rows.
SELECT {counts}
FROM (
    SELECT {columns}
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
    ORDER BY time
    LIMIT %(n_rows)s
) AS part
