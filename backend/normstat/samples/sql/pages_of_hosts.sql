-- Purpose: samples of a wide table in windows of many hosts, as one row for each: of each column the bytes of its numbers, in the
-- order of time.
-- Parameters: host_ids int4[], starts, ends timestamptz[], one for each window; start, end timestamptz that hold all windows, by
-- which the planner leaves chunks out; n_rows int8 of each window.
-- Filled in by sample_pages.py: as for page.sql.
-- Result: one row for each window, in their order; its columns as for page.sql.
-- Index: (host_id, time), read in order for each window, up to n_rows.
SELECT packed.*
FROM unnest(%(host_ids)s::int4[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
    WITH ORDINALITY AS span (host_id, start_at, end_at, number)
CROSS JOIN LATERAL (
    SELECT {arrays}
    FROM (
        SELECT {columns}
        FROM {table} AS t
        WHERE t.host_id = span.host_id
          AND t.time >= span.start_at
          AND t.time < span.end_at
          AND t.time >= %(start)s
          AND t.time < %(end)s
        ORDER BY t.time
        LIMIT %(n_rows)s
    ) AS page
) AS packed
ORDER BY span.number
