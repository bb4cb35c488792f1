"""Snapshots of /proc as a test wants them, and the rows that a reader makes of them."""

from collections.abc import Iterable, Mapping
from typing import Final

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIMING, Timing

EPOCH: Final = 1_795_305_600
SECOND_US: Final = 1_000_000
Values = Mapping[str, float | None]


def snapshot(at_s: float, files: Mapping[str, str], *, uptime_s: float | None = None) -> str:
    """A snapshot of files, at seconds after EPOCH; the host was booted 1000 seconds before."""
    uptime = 1000 + at_s if uptime_s is None else uptime_s
    files = {"uptime": f"{uptime:.2f} 0.00", **files}
    return f"{EPOCH + int(at_s)}\n" + "".join(f"==> /proc/{path} <==\n{text}\n\n" for path, text in files.items())


def rows(
    text: str | Iterable[str], stat: str, *, spec: str = "proc_linux", timing: Timing = NO_TIMING
) -> list[tuple[float, str, Values]]:
    """The rows of a stat: seconds after EPOCH, instance, values."""
    result = read(
        require_spec(spec),
        "".join(text).encode(),
        state={},
        offset=0,
        is_final=True,
        timing=timing,
    )
    assert result.rejected == (), result.rejected
    found: list[tuple[int, float, str, Values]] = []
    for block in result.blocks:
        if block.stat.name == stat:
            for at in range(len(block)):
                values = {
                    field.key: None if missing is not None and missing[at] else column[at].item()
                    for field, column, missing in zip(block.fields, block.values, block.missing, strict=True)
                }
                second = int(block.time_us[at]) / SECOND_US - EPOCH
                found.append((int(block.line_offset[at]), second, block.instances[at], values))
    return [row[1:] for row in sorted(found, key=lambda row: row[0])]


def rejected(text: str, spec: str = "proc_linux") -> list[tuple[int, str]]:
    result = read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)
    return [(line.line_no, line.reason) for line in result.rejected]


def stat_line(pid: int, command: str, **given: int | str) -> str:
    """A line of /proc/PID/stat."""
    values: dict[str, int | str] = {
        "state": "S", "flags": 4194304, "minflt": 0, "majflt": 0, "utime": 0, "stime": 0, "cutime": 0, "cstime": 0, "threads": 1,
        "parent": 1, "start": 100, "vsize": 4096, "rss": 10,
    }  # fmt: skip
    values.update(given)
    return (
        "{pid} ({command}) {state} {parent} 1 1 0 -1 {flags} {minflt} 0 {majflt} 0 {utime} {stime} {cutime} {cstime} 20 0 "
        "{threads} 0 {start} {vsize} {rss} 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0"
    ).format(pid=pid, command=command, **values)


def pids(at_s: float, *lines: str, io: Mapping[int, str] | None = None, statm: Mapping[int, str] | None = None) -> str:
    files = {f"{line.partition(' ')[0]}/stat": line for line in lines}
    files |= {f"{pid}/io": text for pid, text in (io or {}).items()}
    return snapshot(at_s, files | {f"{pid}/statm": text for pid, text in (statm or {}).items()})
