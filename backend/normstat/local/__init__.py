"""The machine for `normstat up`: accounts, child processes, log files, disks.

Never: SQL or HTTP. Entry points: `processes`, `os_accounts`.
"""
