"""What `normstat up` needs of the machine: accounts, child processes, log files, disks.

Never: SQL or HTTP. Entry points: `processes`, `accounts`.
"""
