"""Tables whose lines a terminal or mail folded are read like the original, or not at all."""

import itertools
import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.readers import read
from normstat.stats.readers.tabular import columns
from normstat.stats.records import ReadResult
from tests.golden_captures import Capture, captures, first_of_each_spec
from tests.stats.reading import Row, guessed, read_pieces, rows_of_result

IOSTAT = """\
Linux 3.10.0-957.el7.x86_64 (db1.example.com) \t11/21/2026 \t_x86_64_\t(4 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           4.04    0.00    9.09   86.87    0.00    0.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
vda              1.98     11.88     0.00   0.00    0.00     6.00    2.97    506.93     0.00   0.00    2.33   170.67    0.01   0.40
nvme0n1         21.98   1211.88     0.00   0.00    0.00     6.00    2.97 123506.93     0.00   0.00    2.33   170.67    0.01  10.40

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           5.04    0.00    8.09   86.87    0.00    0.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
vda              2.98     12.88     1.00   0.00    0.00     7.00    3.97    507.93     0.00   0.00    2.33   170.67    0.01   0.41
nvme0n1         22.98   1212.88     0.00   0.00    0.00     6.00    2.97 123507.93     0.00   0.00    2.33   170.67    0.01 100.00
"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1 2026-11-21 12:00:00
 3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0 2026-11-21 12:00:01
 4  0      0 402201 267968 846360    0    0    44     0  381  615  3  2 95  0  0 2026-11-21 12:00:02
"""
MPSTAT = """\
Linux 6.1.0 (web1)  11/21/2026  _x86_64_ (2 CPU)

12:00:00 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
12:00:01 PM  all   11.22    0.00    3.06    0.51    0.00    0.00    0.00    0.00    0.00   85.20
12:00:01 PM    0   12.22    0.00    4.06    0.51    0.00    0.00    0.00    0.00    0.00   83.20

12:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
12:00:02 PM  all   13.22    0.00    5.06    0.51    0.00    0.00    0.00    0.00    0.00   81.20
12:00:02 PM    0   14.22    0.00    6.06    0.51    0.00    0.00    0.00    0.00    0.00   79.20

Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
Average:     all   12.22    0.00    4.06    0.51    0.00    0.00    0.00    0.00    0.00   83.20
Average:       0   13.22    0.00    5.06    0.51    0.00    0.00    0.00    0.00    0.00   81.20
"""
PIDSTAT = """\
Linux 6.1.0 (web1)  11/21/2026  _x86_64_ (2 CPU)

# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM  Command
1795262401     1000      4711    1.00    0.00    0.00    0.00    1.00     1      0.00      0.00  107916     740   0.01  bash
1795262401     1000      4712  100.00    0.50    0.00    0.00  100.50     0    123.00      0.00 1107916   10740  10.01  java
1795262402     1000      4711    2.00    0.00    0.00    0.00    2.00     1      0.00      0.00  107916     740   0.01  bash
"""
SAMPLES = {"iostat_linux": IOSTAT, "vmstat_linux": VMSTAT, "mpstat_linux": MPSTAT, "pidstat_linux": PIDSTAT}


def broken(text: str, width: int = 80) -> str:
    """As a terminal or `fold -w` breaks: in the midst of words."""
    found = []
    for line in text.splitlines():
        at = n_columns = 0
        for end, sign in enumerate(line):
            n_next = (n_columns // 8 + 1) * 8 if sign == "\t" else n_columns + 1
            if n_next > width:
                found.append(line[at:end])
                at, n_next = end, 8 if sign == "\t" else 1
            n_columns = n_next
        found.append(line[at:])
    return "".join(f"{line}\n" for line in found)


def copied(text: str, width: int = 80) -> str:
    """As text copied from a terminal: without the blanks at the ends."""
    return "".join(f"{line.rstrip()}\n" for line in broken(text, width).splitlines())


def mailed(text: str, width: int = 72) -> str:
    """As mail folds: between two words."""
    lines = []
    for line in text.splitlines():
        rest = line
        while len(rest) > width and rest[: rest.rfind(" ", 0, width)].strip():
            at = rest.rfind(" ", 0, width)
            lines.append(rest[:at].rstrip())
            rest = rest[at:].lstrip()
        lines.append(rest)
    return "".join(f"{line}\n" for line in lines)


def quoted(text: str) -> str:
    return "".join(f"> {line}\n" if line else ">\n" for line in mailed(text).splitlines())


CHANGES = {
    "terminal": broken,
    "wider": lambda text: broken(text, 90),
    "copied": copied,
    "mail": mailed,
    "wider mail": lambda text: mailed(text, 76),
    "answered": quoted,
    "no newlines of Unix": lambda text: broken(text).replace("\n", "\r\n"),
}


def read_text(spec: str, text: str) -> ReadResult:
    return read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)


def values(result: ReadResult) -> Counter[tuple[object, ...]]:
    """Every value with what it is of; a folded line stands at another place."""
    return Counter(value for row in rows_of_result(result) for value in row_values(row))


def row_values(row: Row) -> list[tuple[object, ...]]:
    own = (row.is_since_boot, row.stat, row.time_us, row.instance)
    cells = zip(row.columns, row.values, row.missing or itertools.repeat(False), strict=False)
    return [(*own, key, value) for (key, _), value, is_missing in cells if not is_missing]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_folded_output_is_read_like_the_original(name: str, change: Callable[[str], str]) -> None:
    text = SAMPLES[name]
    changed = change(text)
    assert changed != text
    assert guessed(changed.encode()) == name
    result = read_text(name, changed)
    assert values(result) == values(read_text(name, text))
    assert not result.rejected


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_folded_lines_in_any_pieces(monkeypatch: pytest.MonkeyPatch, name: str, data: st.DataObject) -> None:
    change = data.draw(st.sampled_from(list(CHANGES.values())))
    content = bytearray(change(SAMPLES[name]).encode())
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=3)):
        content[at : at + data.draw(st.integers(0, 90))] = data.draw(st.sampled_from([b"", b"\n", b"0", b" ", b"\n0\n"]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=5)))
    pieces = [bytes(content[begin:end]) for begin, end in itertools.pairwise([0, *cuts, len(content)])]
    spec = require_spec(name)
    monkeypatch.setattr(columns, "MIN_BULK_BYTES", 1 << 60)
    whole = read_pieces(spec, [bytes(content)])
    assert read_pieces(spec, pieces) == whole
    monkeypatch.setattr(columns, "MIN_BULK_BYTES", 0)
    assert read_pieces(spec, pieces) == whole


def test_lines_with_a_time_before_them_are_folded_too() -> None:
    """The first part of the header is short without the time, which the second does not have."""
    text = "".join(f"2026-11-21 12:00:00.50066{at}\t{line[:80]}\n" for at, line in enumerate(VMSTAT.splitlines()))
    changed = broken(text)
    assert guessed(changed.encode()) == "vmstat_linux"
    assert values(read_text("vmstat_linux", changed)) == values(read_text("vmstat_linux", text))


def test_a_row_without_its_rest_is_rejected() -> None:
    lines = mailed(IOSTAT).splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("vda"))
    result = read_text("iostat_linux", "".join(lines[: at + 1] + lines[at + 2 :]))
    assert [line.text[:3] for line in result.rejected] == ["vda"]
    assert not values(result) - values(read_text("iostat_linux", IOSTAT))


def test_rows_under_a_part_of_a_header_are_not_read() -> None:
    """The rest of the header has columns that nobody knows, so that it cannot be put together."""
    text = mailed(re.sub(r"aqu-sz  %util", "aqu-sz foo bar", IOSTAT))
    result = read_text("iostat_linux", text)
    assert {row.stat for row in rows_of_result(result)} == {"iostat_linux_cpu"}
    assert "a header that was folded" in result.rejected[0].reason


def test_a_line_of_dashes_under_groups_takes_no_longer_than_others() -> None:
    """It may be the rest of the groups, up to the word that is none: each dash of each word could be tried as its end."""
    dashes = " ".join(["-" * 24] * 5)
    groups = "   kthr       memory              page              faults        cpu       time".ljust(len(dashes))
    text = f"{groups}\n{dashes} é\n{VMSTAT}"
    assert read_text("vmstat_unix", text).rejected


def test_the_last_number_of_a_line_as_wide_as_a_terminal_goes_on_in_the_next() -> None:
    """The header has room in the terminal, a row has not."""
    row = " 0  0    524 763388 147216 819640    0    0     0     0   62  122  0  0 100  0 10"
    header = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st"
    assert len(row) == 81
    found = rows_of_result(read_text("vmstat_linux", f"{header}\n{broken(row)}{broken(row)}"))
    assert [line.values[-1] for line in found] == [10, 10]


def test_a_stream_of_an_agent_is_taken_up_to_its_last_line() -> None:
    """Its command line has an interval, and nothing folds what comes through a pipe."""
    data = "\n".join(VMSTAT.splitlines()[:2]).encode() + b"\n"
    spec = require_spec("vmstat_linux")
    assert read(spec, data, state={}, offset=0, command="vmstat -n -t 1").n_taken == len(data)
    assert read(spec, data, state={}, offset=0).n_taken < len(data)


def may_be_folded(capture: Capture) -> bool:
    """Whether the capture is of tables whose rows end where their headers do, and ends with a line."""
    spec = require_spec(capture.spec)
    layout = spec.layout
    is_table = (
        spec.reader == "columns" and isinstance(layout, ColumnLayout) and not any(table.has_short_rows for table in layout.tables)
    )
    return is_table and capture.data.endswith(b"\n")


PLAIN = [capture for capture in captures() if may_be_folded(capture)]
# What they have beside numbers, such as the name of a process, may end at the fold.
NAMES_MAY_END = {"pidstat_linux", "sar_linux", "ps_linux"}


@pytest.mark.parametrize("capture", first_of_each_spec(PLAIN))
def test_no_capture_gives_other_values_when_it_is_folded(capture: Capture) -> None:
    text = capture.data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    own = values(read(require_spec(capture.spec), text.encode("utf-8", "surrogateescape"), state={}, offset=0, is_final=True))
    for change in (broken, lambda text: broken(text, 100), mailed):
        changed = change(text).encode("utf-8", "surrogateescape")
        found = values(read(require_spec(capture.spec), changed, state={}, offset=0, is_final=True))
        if capture.spec in NAMES_MAY_END:
            assert not numbers(found) - numbers(own)
        else:
            assert not found - own


def numbers(found: Counter[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    """The values without the names and times of their rows."""
    return Counter((key[1], *key[4:]) for key in found.elements())
