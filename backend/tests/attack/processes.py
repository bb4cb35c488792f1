"""What a process has used so far."""

import os
from pathlib import Path


def peak_rss(pid: int) -> int:
    """Return the most memory that the process has held so far, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def cpu_seconds(pid: int) -> float:
    """Return what the process has used of processors so far."""
    found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")
