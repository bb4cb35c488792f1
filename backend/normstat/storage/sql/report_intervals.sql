-- Purpose: the interval of the reports of each stream of a stat along a window, from a few samples at each of equal steps and at the
-- end.
-- Parameters: host_id int4; start, end timestamptz, half-open; step interval; n_steps, n_rows int4 (samples read for a step);
-- instance_ids int4[], of which the result says in what streams they were seen.
-- Filled in by report_intervals.py: table.
-- Result: the number of the step int4, stream_id, the interval in microseconds int8 (the shortest median distance of an instance; NULL
-- where none has two samples), instance_ids int8[] (of all steps).
-- Index: (host_id, time), read in order up to n_rows for each step.
WITH seen AS (
    SELECT step.number, sample.time, sample.instance_id, sample.stream_id
    FROM generate_series(0, %(n_steps)s - 1) AS step (number)
    CROSS JOIN LATERAL (
        SELECT time, instance_id, stream_id
        FROM {table}
        WHERE host_id = %(host_id)s
          AND time >= %(start)s
          AND time < %(end)s
          AND time >= %(start)s + step.number * %(step)s::interval
        ORDER BY time
        LIMIT %(n_rows)s
    ) AS sample
    UNION ALL
    (
        SELECT %(n_steps)s, time, instance_id, stream_id
        FROM {table}
        WHERE host_id = %(host_id)s
          AND time >= %(start)s
          AND time < %(end)s
        ORDER BY time DESC
        LIMIT %(n_rows)s
    )
), distances AS (
    SELECT number, stream_id, instance_id,
        time - lag(time) OVER (PARTITION BY number, stream_id, instance_id ORDER BY time) AS distance
    FROM seen
), of_instances AS (
    SELECT number, stream_id, instance_id,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY distance) FILTER (WHERE distance > '0'::interval) AS distance
    FROM distances
    GROUP BY number, stream_id, instance_id
), wanted AS (
    SELECT stream_id, array_agg(DISTINCT instance_id::int8) AS instance_ids
    FROM seen
    WHERE instance_id = ANY (%(instance_ids)s::int4[])
    GROUP BY stream_id
)
SELECT number, stream_id, (extract(epoch FROM min(distance)) * 1000000)::int8 AS interval_us,
    coalesce(min(wanted.instance_ids), '{{}}') AS instance_ids
FROM of_instances
LEFT JOIN wanted USING (stream_id)
GROUP BY number, stream_id
ORDER BY number, stream_id
