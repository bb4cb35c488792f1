"""Output that mail quoted and folded, or a terminal broke, is read like the original, or not at all."""

import re

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read
from normstat.stats.records import ReadResult
from tests.golden_captures import Capture, captures

IOSTAT = """\
Linux 3.10.0-957.el7.x86_64 (db1) \t11/21/2026 \t_x86_64_\t(4 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           4.04    0.00    9.09   86.87    0.00    0.00

Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.10    0.00    0.20     0.00     0.00     0.00     0.10    0.50   0.00   0.30
sdb               1.00     0.10    5.00    0.20     1.00     0.00     2.00     0.20    0.60   0.00   0.40

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           5.04    0.00    8.09   86.87    0.00    0.00

Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               3.00     0.10    0.00    0.20     0.00     0.00     0.00     0.30    0.70   0.00  10.30
sdb               4.00     0.10    5.00    0.20     0.00     0.00     0.00     0.40    0.80   0.00 100.00
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
12:00:02 PM  all   13.22    0.00    5.06    0.51    0.00    0.00    0.00    0.00    0.00   81.20
"""
SAMPLES = (("iostat_linux", IOSTAT), ("vmstat_linux", VMSTAT), ("mpstat_linux", MPSTAT))


def quoted(text: str) -> str:
    return "".join(f"> {line}\n" if line else ">\n" for line in text.splitlines())


def folded(text: str, width: int = 72) -> str:
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


def broken(text: str, width: int = 80) -> str:
    """As a terminal breaks: in the midst of words."""
    return "".join(f"{line[at : at + width]}\n" for line in text.splitlines() for at in range(0, max(1, len(line)), width))


def read_text(spec: str, text: str) -> ReadResult:
    return read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)


def rows(result: ReadResult) -> list[tuple[str, str, int, tuple[tuple[str, float], ...]]]:
    found = []
    for block in (*result.blocks, *result.since_boot):
        columns = [column.tolist() for column in block.values]
        for at in range(len(block)):
            values = tuple((field.key, column[at]) for field, column in zip(block.fields, columns, strict=True))
            found.append((block.stat.name, block.instances[at], int(block.time_us[at]), values))
    return sorted(found)


@pytest.mark.parametrize(("spec", "text"), SAMPLES, ids=lambda value: value if value.isidentifier() else "")
@pytest.mark.parametrize("change", [quoted, folded, lambda text: quoted(quoted(folded(text)))], ids=["quoted", "folded", "both"])
def test_quoted_and_folded_output_is_read_like_the_original(spec: str, text: str, change) -> None:  # type: ignore[no-untyped-def]
    changed = change(text)
    assert changed != text
    found = guess_spec(changed.encode())
    assert found is not None
    assert found.name == spec
    result = read_text(spec, changed)
    assert rows(result) == rows(read_text(spec, text))
    assert not result.rejected


@pytest.mark.parametrize(("spec", "text"), SAMPLES[::2], ids=lambda value: value if value.isidentifier() else "")
def test_lines_that_a_terminal_broke_are_put_together(spec: str, text: str) -> None:
    result = read_text(spec, broken(text))
    assert rows(result) == rows(read_text(spec, text))
    assert not result.rejected


@pytest.mark.parametrize(("spec", "text"), SAMPLES, ids=lambda value: value if value.isidentifier() else "")
def test_folded_lines_in_pieces_of_any_size(spec: str, text: str) -> None:
    data = quoted(folded(text)).encode()
    whole = rows(read_text(spec, data.decode()))
    for size in (1, 7, 61):
        state: dict[str, object] = {}
        found = []
        begin = 0
        for end in [*range(size, len(data), size), len(data)]:
            result = read(require_spec(spec), data[begin:end], state=state, offset=begin, is_final=end == len(data))
            assert sum(result.accounts.n_bytes.values()) == result.n_taken
            state, begin = dict(result.state), begin + result.n_taken
            found += rows(result)
        assert sorted(found) == whole


def test_a_row_without_its_rest_is_rejected() -> None:
    lines = folded(IOSTAT).splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("sda"))
    result = read_text("iostat_linux", "".join(lines[: at + 1] + lines[at + 2 :]))
    assert [line.text[:3] for line in result.rejected] == ["sda"]
    assert len(rows(result)) == len(rows(read_text("iostat_linux", IOSTAT))) - 1


def test_rows_under_a_part_of_a_header_are_not_read() -> None:
    """The rest of the header has columns that nobody knows, so that it cannot be put together."""
    text = re.sub(r"avgqu-sz   await  svctm  %util", "avgqu-sz foo await bar svctm baz %util qux", folded(IOSTAT))
    result = read_text("iostat_linux", text)
    assert {name for name, *_ in rows(result)} == {"iostat_linux_cpu"}
    assert result.rejected


PLAIN = [capture for capture in captures() if require_spec(capture.spec).reader == "columns"]


@pytest.mark.parametrize("capture", PLAIN, ids=lambda capture: capture.name)
def test_every_capture_can_be_quoted(capture: Capture) -> None:
    if b"\r" in capture.data or b"\n>" in capture.data or not capture.data.endswith(b"\n"):
        pytest.skip("quoting it would not give its lines back")
    text = capture.data.decode("utf-8", "surrogateescape")
    own = read(require_spec(capture.spec), capture.data, state={}, offset=0, is_final=True)
    data = quoted(text).encode("utf-8", "surrogateescape")
    assert rows(read(require_spec(capture.spec), data, state={}, offset=0, is_final=True)) == rows(own)
