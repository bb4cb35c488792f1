"""What `normstat up` needs from the machine: accounts, child processes, log files, disks.

Never: SQL or HTTP. Entry points: `processes`, `os_accounts`.
"""
