"""Delete hosts, and the samples, chunks and rejected lines that are older than the rules allow.

Never: data that a rule keeps. Entry points: `deletion_worker` for the jobs, `retention_run` for the rules,
`host_deletion` for hosts.
"""
