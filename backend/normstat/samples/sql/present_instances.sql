-- Purpose: which of some instances have a sample in a window.
-- Parameters: host_id int4; start, end timestamptz, half-open; instance_ids int4[].
-- Filled in by lookup.py: table.
-- Result: instance_id.
-- Index: (host_id, time); reads every sample of the window, which is at most LAST_STEP long.
SELECT DISTINCT instance_id
FROM {table} AS t
WHERE host_id = %(host_id)s
  AND time >= %(start)s
  AND time < %(end)s
  AND instance_id = ANY (%(instance_ids)s::int4[])
