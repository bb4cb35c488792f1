-- Purpose: one page of samples of a wide table, as one row: of each column the bytes of its numbers, in the order of time.
-- Parameters: host_id int4; start, end timestamptz, half-open; instance_ids int4[] or NULL for all; n_rows int8.
-- Filled in by sample_pages.py: columns (time, instance_id, fields, with a stand-in for NULL where some lack), arrays (string_agg of each),
-- table.
-- Result: one row; bytea of big-endian numbers as they are stored, without those that are NULL, time in microseconds of 2000-01-01.
-- Index: (host_id, time), read in order up to n_rows.
SELECT {arrays}
FROM (
    SELECT {columns}
    FROM {table} AS t
    WHERE host_id = %(host_id)s
      AND time >= %(start)s
      AND time < %(end)s
      AND (%(instance_ids)s::int4[] IS NULL OR instance_id = ANY (%(instance_ids)s::int4[]))
    ORDER BY time
    LIMIT %(n_rows)s
) AS page
