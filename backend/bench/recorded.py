"""What the tools really printed on one host for a quarter of an hour, as long and as often as a benchmark wants it.

`data/<tool>.txt.xz` was recorded on a Linux virtual machine of two CPUs and one disk while programs were built and tests ran, all
four tools at once: `LC_ALL=C S_TIME_FORMAT=ISO TZ=UTC` with `vmstat -t 1`, `mpstat -P ALL 1`, `iostat -x -t 1` and
`pidstat -dru -h 1`. Changed were the name of the host, the names of some programs, and the averages at the end are cut off.

A longer recording is this one again and again: times go on, and processes of a repetition have other numbers than those of the one
before, but for those that lived all the time. All other numbers are as they were printed; a repetition lies 900 rows of an instance
behind the last one, and nothing that stores them looks for the same numbers that far apart.
"""

import datetime as dt
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).with_name("data")
COMMANDS: Final = {
    "vmstat": "vmstat -t 1",
    "mpstat": "mpstat -P ALL 1",
    "iostat": "iostat -x -t 1",
    "pidstat": "pidstat -dru -h 1",
}
BEGAN: Final = dt.datetime(2026, 11, 21, 15, 16, 28, tzinfo=dt.UTC)
LENGTH: Final = dt.timedelta(seconds=901)
INSTANT: Final = re.compile(rb"(?:2026-11-21([ T]))?(15:\d\d:\d\d)|2026-11-21")
PROCESS: Final = re.compile(rb"^(15:\d\d:\d\d +\d+)( +\d+) ", re.MULTILINE)
# A process that is in so many of the 900 reports goes on in the next repetition.
LIVES_ON: Final = 300


@cache
def recording(tool: str) -> bytes:
    """What the tool printed."""
    return lzma.decompress((DATA / f"{tool}.txt.xz").read_bytes())


def repeated(tool: str, start: dt.datetime, n_times: int) -> Iterator[bytes]:
    """The recording `n_times` over, as one run of the tool from `start` on (UTC) would have printed it; one part each time."""
    head, body = _parts(tool)
    yield _moved(head, start)
    for number in range(n_times):
        text = _with_other_processes(body, number) if tool == "pidstat" else body
        yield _moved(text, start + number * LENGTH)


def _parts(tool: str) -> tuple[bytes, bytes]:
    """What the tool prints once (a banner, a report since boot), and its reports of a second each."""
    text = recording(tool)
    match tool:
        case "vmstat":
            at = text.index(b"\n", text.index(b"\n", text.index(b"\n") + 1) + 1) + 1
        case "iostat":
            at = text.index(b"2026-11-21T15:16:29")
        case _:
            at = text.index(b"\n") + 1
    return text[:at], text[at:]


def _moved(text: bytes, start: dt.datetime) -> bytes:
    """The text with its first instant at `start`."""
    by = start - BEGAN
    moved: dict[bytes, bytes] = {}

    def instant(found: re.Match[bytes]) -> bytes:
        words = found[0]
        if words not in moved:
            between, clock = (found[1] or b"").decode(), (found[2] or b"15:16:28").decode()
            day = "%Y-%m-%d" if words.startswith(b"2026") else ""
            form = day + between + ("%H:%M:%S" if found[2] else "")
            moved[words] = (dt.datetime.combine(BEGAN, dt.time.fromisoformat(clock), dt.UTC) + by).strftime(form).encode()
        return moved[words]

    return INSTANT.sub(instant, text)


def _with_other_processes(text: bytes, number: int) -> bytes:
    n_reports = Counter(found[2] for found in PROCESS.finditer(text))

    def other(found: re.Match[bytes]) -> bytes:
        if n_reports[found[2]] >= LIVES_ON:
            return found[0]
        return found[1] + b" " + str(int(found[2]) + 40_000 * number).rjust(len(found[2]) - 1).encode() + b" "

    return PROCESS.sub(other, text)
