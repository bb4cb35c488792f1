"""System logs: lines that tell why a host was slow are events, at the right time, once a burst."""

import datetime as dt
from typing import Final

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, NO_TIMING, LineKind, ReadResult, State, Timing
from normstat.window import from_us
from tests.stats.reading import guessed

CLASSIC: Final = b"""\
Dec 31 23:58:59 web1 systemd[1]: Started Daily apt activities.
Dec 31 23:59:58 web1 kernel: [12345.678901] java invoked oom-killer: gfp_mask=0x1100cca, order=0, oom_score_adj=0
Dec 31 23:59:58 web1 kernel: [12345.679310] Out of memory: Killed process 4711 (java) total-vm:9437184kB, anon-rss:8124416kB
Jan  1 00:00:03 web1 systemd[1]: app.service: Main process exited, code=killed, status=9/KILL
Dec 31 23:59:59 web1 app[4711]: core dumped, written late
Jan  1 00:00:04 web1 kernel: [12351.000001] blk_update_request: I/O error, dev sda, sector 2048
Jan  1 00:00:05 web1 kernel: [12352.000001] blk_update_request: I/O error, dev sda, sector 4096
\ta line that belongs to the one before
Jan  1 00:02:00 web1 kernel: [12467.000001] blk_update_request: I/O error, dev sda, sector 8192
Feb 30 00:03:11 web1 kernel: a day that there is not
this is no line of a log
Jan  1 00:10:00 web1 kernel: Linux version 6.1.0-37-amd64 (debian-kernel@lists.debian.org)
"""
SOLARIS: Final = b"""\
Nov 23 02:12:31 sol1 nfs: [ID 333984 kern.notice] NFS server nas1 not responding still trying
Nov 23 02:13:31 sol1 scsi: [ID 107833 kern.warning] WARNING: /pci@1f,4000/scsi@3/sd@0,0 (sd0):
Nov 23 02:13:31 sol1 \tSCSI transport failed: reason 'timeout': retrying command
Nov 23 02:14:00 sol1 ufs: [ID 845546 kern.notice] NOTICE: alloc: /export: file system full
Nov 23 02:15:00 sol1 sendmail[99]: [ID 801593 mail.info] stat=Sent
Nov 23 02:20:00 sol1 genunix: [ID 540533 kern.notice] SunOS Release 5.10 Version Generic_150400-64 64-bit
"""


def read_log(text: bytes, timing: Timing = NO_TIMING, piece: int | None = None) -> list[ReadResult]:
    """Read a log at once, or in pieces of a size."""
    spec = require_spec("syslog")
    results: list[ReadResult] = []
    state: State = {}
    begin = 0
    while begin < len(text):
        end = len(text) if piece is None else min(len(text), begin + piece)
        while True:
            result = read(spec, text[begin:end], state=state, offset=begin, is_final=end == len(text), timing=timing)
            if result.n_taken or end == len(text):
                break
            end = min(len(text), end + (piece or 1))
        results.append(result)
        state, begin = result.state, begin + result.n_taken
    return results


def told(results: list[ReadResult]) -> list[tuple[str, str, str]]:
    """The events: time, kind, and the beginning of the text."""
    return [
        ("" if event.time_us == NO_TIME else from_us(event.time_us).isoformat()[:19], event.kind, event.text[:24])
        for result in results
        for event in result.events
    ]


YEAR_OF_THE_FIRST_LINE: Final = Timing(date=dt.date(2025, 12, 31), zone="Europe/Berlin")


@pytest.mark.parametrize("piece", [None, 100])
def test_a_log_without_years_goes_on_into_the_next_year(piece: int | None) -> None:
    results = read_log(CLASSIC, YEAR_OF_THE_FIRST_LINE, piece)
    assert told(results) == [
        ("2025-12-31T22:59:58", "kernel", "Out of memory: Killed pr"),
        ("2025-12-31T23:00:03", "log", "app.service: Main proces"),
        ("2025-12-31T22:59:59", "log", "core dumped, written lat"),
        ("2025-12-31T23:00:04", "storage", "blk_update_request: I/O "),
        ("2025-12-31T23:02:00", "storage", "blk_update_request: I/O "),
        ("2025-12-31T23:10:00", "reboot", "Linux version 6.1.0-37-a"),
    ]
    kinds = [kind for result in results for kind, n in result.accounts.n_lines.items() for _ in range(n)]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        LineKind.STATE_CHANGE: 7,
        LineKind.IGNORED: 3,
        LineKind.REJECTED: 2,
    }
    assert [line.reason for result in results for line in result.rejected] == [
        "no such time",
        "not a line of a system log: expected a time, a host and a message",
    ]


def test_a_log_without_years_has_no_times_until_somebody_names_the_day() -> None:
    assert {at for at, _, _ in told(read_log(CLASSIC))} == {""}


def test_messages_of_solaris() -> None:
    assert told(read_log(SOLARIS, Timing(date=dt.date(2026, 11, 23), zone="UTC"))) == [
        ("2026-11-23T02:12:31", "storage", "NFS server nas1 not resp"),
        ("2026-11-23T02:13:31", "storage", "SCSI transport failed: r"),
        ("2026-11-23T02:14:00", "storage", "NOTICE: alloc: /export: "),
        ("2026-11-23T02:20:00", "reboot", "SunOS Release 5.10 Versi"),
    ]


def test_a_storm_of_one_error_is_one_event() -> None:
    lines = [f"2026-11-23T02:{n // 60:02}:{n % 60:02}Z web1 kernel: I/O error, dev sda, sector {n}\n" for n in range(600)]
    (result,) = read_log("".join(lines).encode())
    assert len(result.events) == 1
    assert result.accounts.n_lines[LineKind.STATE_CHANGE] == 600


@pytest.mark.parametrize(
    "text", [CLASSIC, SOLARIS, b"[Mon Nov 23 02:14:00 2026] mce: [Hardware Error]: Machine check events logged\n"]
)
def test_a_log_is_known_by_its_lines(text: bytes) -> None:
    assert guessed(text, "messages") == "syslog"
