"""Queue background work: imports, reparses, profiles, rollups, retention, deletions of hosts. One table, one claim, one retry rule.

Never: the work itself, and its details; those are in the package of each kind. Entry points: `claims.open_claims` for workers,
`job_list` for those who look, stop or retry, `background.keep_running` for the loops of a server, `due_work.DueWork` wakes them.
"""
