"""What the beginning of a file tells: its tool, what is missing of its times; BatchLOAD files and their sections."""

import datetime as dt
import io
import itertools
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.ingest.import_rows import MissingOption
from normstat.ingest.imports.batchload import Splitter, is_batchload, times_of
from normstat.ingest.imports.detect import (
    NO_DATE_NOTE,
    SOME_DAY,
    Look,
    command_of,
    day_of_neighbours,
    look_at,
)
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.imports.scan import Found, Survey
from normstat.ingest.imports.unpacking import Budget
from normstat.stats.catalogue import UserSpecText, install_user_specs, require_spec
from normstat.stats.file_names import day_in_name
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME
from normstat.window import from_us

NOTHING = ImportOptions()
VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1
 3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0
 0  0      0 402100 267968 846360    0    0     0     8  371  605  1  1 98  0  0
"""
BANNER = "Linux 6.1.0-20-amd64 (web1)\t11/21/26\t_x86_64_\t(2 CPU)\n\n"
MPSTAT = """12:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
12:00:02     all    1.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   98.50
12:00:03     all    2.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   97.50
"""
OSW = (
    "Linux OSWbb v8.1.2 web1\nSNAP_INTERVAL 30\nCPU_CORES 4\nzzz ***Sat Nov 21 13:00:01 CET 2026\n"
    + VMSTAT
    + ("zzz ***Sat Nov 21 13:00:31 CET 2026\n" + VMSTAT)
)


def look(text: str | bytes, path: str = "file", options: ImportOptions = NOTHING) -> Look:
    data = text.encode() if isinstance(text, str) else text
    return look_at(data, path, options, is_all=True)


def times(text: str, found: Look) -> list[str]:
    assert found.spec is not None
    result = read(found.spec, text.encode(), state={}, offset=0, is_final=True, timing=found.timing, command=found.command)
    return [
        "none" if time == NO_TIME else f"{from_us(time):%d %H:%M:%S}" for block in result.blocks for time in block.time_us.tolist()
    ]


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"", "empty"),
        (b"\x7fELF\2\1\1\0\0\0", "not text"),
        (b"cat  17\ndog   4\n", "many tools print text like this"),
        ("procs\n".encode("utf-16"), "UTF-16"),
        (b"Dear customer,\n\nplease send us vmstat.\n", "not output of a known tool"),
    ],
)
def test_what_nobody_reads_has_a_word_why(data: bytes, note: str) -> None:
    found = look(data)
    assert found.spec is None
    assert note in found.note


def test_a_binary_recording_names_the_command_that_prints_it() -> None:
    """Data of aperf holds copies of /proc between its own bytes: its numbers have no times."""
    copy = b"\x01\x00\x00\x00nr_free_pages 100000\npgfault 1\npswpin 0\npswpout 0\n" * 3
    assert "aperf record" in look(copy, "run1/vmstat_2026-11-21_12_00_00.bin").note
    assert "`atop -P ALL -r FILE`" in look(b"\xef\xbe\xed\xfe\x00\x02", "atop_20261121").note
    assert "`below dump system -O csv" in look(b"\x00\x01", "var/log/below/store/data_01795219200").note


def test_a_hole_of_zeros_does_not_hide_a_log() -> None:
    found = look(VMSTAT.encode() + bytes(50) + b"\n" + VMSTAT.encode())
    assert found.spec is not None


def test_one_report_is_no_sample() -> None:
    assert "since boot" in look("\n".join(VMSTAT.splitlines()[:3]) + "\n").note


def test_a_spec_that_was_named_reads_anything() -> None:
    found = look("nothing\n", options=ImportOptions(spec="vmstat_linux"))
    assert found.spec is not None
    assert found.spec.name == "vmstat_linux"


def test_files_that_say_their_times_need_nothing_and_take_nothing() -> None:
    options = ImportOptions(zone="Europe/Berlin", date=dt.date(2020, 1, 1), start_us=5, interval_us=5)
    found = look(BANNER + MPSTAT, options=options)
    assert not found.needs_date
    assert found.note == ""
    # So that the same file is the same whatever else was said of it.
    assert (found.timing.date, found.timing.start_us, found.timing.interval_us) == (None, None, None)
    assert times(BANNER + MPSTAT, found) == ["21 11:00:02", "21 11:00:03"]


def test_clocks_without_a_day() -> None:
    found = look(MPSTAT)
    assert found.needs_date
    assert found.note == ""
    dated = look(MPSTAT, options=ImportOptions(date=dt.date(2026, 11, 21)))
    assert not dated.needs_date
    assert times(MPSTAT, dated) == ["21 12:00:02", "21 12:00:03"]


def test_a_system_log_without_years_needs_a_day() -> None:
    log = (
        "Nov 22 06:58:56 web1 kernel: Out of memory: Killed process 4711 (java)\nNov 22 06:59:00 web1 cron[9]: (root) CMD (true)\n"
    )
    found = look(log)
    assert found.spec is not None
    assert (found.spec.name, found.needs_date, found.missing) == ("syslog", True, (MissingOption.DATE,))
    dated = look(log, options=ImportOptions(date=dt.date(2026, 11, 22)))
    assert (dated.needs_date, dated.note, dated.timing.date) == (False, "", dt.date(2026, 11, 22))


def test_no_times_at_all() -> None:
    found = look(VMSTAT)
    assert "prints no times: give --start and --interval" in found.note
    assert found.missing == (MissingOption.START, MissingOption.INTERVAL)
    assert found.lacks_times
    assert not look(VMSTAT, options=ImportOptions(spec="vmstat_linux")).lacks_times
    start = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
    options = ImportOptions(start_us=int(start.timestamp()) * 1_000_000, interval_us=5_000_000)
    told = look(VMSTAT, options=options)
    assert told.note == ""
    assert times(VMSTAT, told) == ["21 12:00:05", "21 12:00:10"]


def test_oswatcher_dates_each_call_and_counts_its_seconds() -> None:
    found = look(OSW)
    assert found.timing.interval_us == 1_000_000
    assert times(OSW, found) == ["21 12:00:02", "21 12:00:03", "21 12:00:32", "21 12:00:33"]
    # Only where the recorder was: nobody knows the interval of a call behind a plain date.
    plain = OSW.replace("zzz ***", "").replace("SNAP_INTERVAL 30\nCPU_CORES 4\nLinux OSWbb v8.1.2 web1\n", "")
    assert look(plain).timing.interval_us is None
    # What the file says counts more than what is usual.
    said = OSW.replace("CET 2026\n", "CET 2026 Sample interval: 5 secconds\n")
    # The reader sees it itself.
    assert (look(said).timing.interval_us, look(said).note) == (None, "")


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("oswmpstat/web1_mpstat_26.11.21.0800.dat.gz", "2026-11-21"),
        ("mpstat-2026-11-21.log", "2026-11-21"),
        ("mpstat_20261121.txt", "2026-11-21"),
        ("mpstat.2026.11.21-23", "2026-11-21"),
        ("2026-11-21/mpstat.out", "2026-11-21"),
        ("2026-11-21/x/mpstat.out", None),
        ("mpstat_2026-11-21_2026-11-22.out", None),
        ("mpstat_20261341.out", None),
        ("mpstat_120261121.out", None),
        ("sa/sar21", None),
        ("mpstat-11-21-26.out", None),
        ("mpstat.out", None),
    ],
)
def test_days_in_names_only_where_they_are_plain(path: str, day: str | None) -> None:
    assert day_in_name(path) == (dt.date.fromisoformat(day) if day else None)


def test_days_of_neighbours() -> None:
    def at(text: str) -> Look:
        return Look(first_us=int(dt.datetime.fromisoformat(text + "+00:00").timestamp()) * 1_000_000)

    def clock(text: str) -> Look:
        seconds = dt.datetime.fromisoformat(f"{SOME_DAY}T{text}+00:00").timestamp()
        return Look(first_us=int(seconds) * 1_000_000, needs_date=True)

    noon = clock("12:00:03")
    assert day_of_neighbours(noon, [at("2026-11-21T12:00:00"), at("2026-11-21T12:00:09")], dt.UTC) == dt.date(2026, 11, 21)
    assert day_of_neighbours(noon, [at("2026-11-21T12:00:00"), at("2026-11-22T12:00:00")], dt.UTC) is None
    assert day_of_neighbours(noon, [noon, Look()], dt.UTC) is None
    # Beginning on either side of midnight.
    assert day_of_neighbours(clock("00:00:05"), [at("2026-11-20T23:59:58")], dt.UTC) == dt.date(2026, 11, 21)
    assert day_of_neighbours(clock("23:59:58"), [at("2026-11-21T00:00:02")], dt.UTC) == dt.date(2026, 11, 20)


def test_commands_in_names_of_sosreports() -> None:
    iostat = require_spec("iostat_linux")
    assert command_of("sos.tar.xz/sos-web1/sos_commands/sysstat/iostat_-y_-tx_5", iostat) == "iostat -y -tx 5"
    assert command_of("somewhere/iostat_-y.gz", iostat) == "iostat -y"
    assert command_of("somewhere/iostat-my.txt", iostat) == command_of("iostat-2026-11-21.out", iostat) == ""


def test_an_option_in_the_name_makes_the_first_report_real() -> None:
    text = "2026-11-21T12:00:01Z\n" + "Device            r/s     rkB/s\nsda              1.00      2.00\n"
    assert look(text, path="web1/iostat.txt").missing == (MissingOption.FIRST_REAL,)
    assert "since boot" in look(text, path="web1/iostat.txt").note
    for name in ("iostat -xy 1 1", "iostat_-xy_1_1.txt", "iostat-xy.out"):
        found = look(text, path=f"web1/{name}")
        assert (found.note, found.missing) == ("", ())
        assert times(text, found) == ["21 12:00:01"]
    real = look(text, options=ImportOptions(is_first_real=True))
    assert times(text, real) == ["21 12:00:01"]


def test_a_date_before_one_call_needs_the_interval_only() -> None:
    """`date; vmstat 1 2`."""
    found = look("Sat Nov 21 12:00:00 UTC 2026\n" + "\n".join(VMSTAT.splitlines()[:4]) + "\n")
    assert found.missing == (MissingOption.INTERVAL,)
    assert "--interval" in found.note
    assert "--start" not in found.note


def test_skip1_no_of_batchload_makes_the_first_report_real(tmp_path: Path) -> None:
    for tag, n_samples in (("SKIP1 no\n", 3), ("SKIP1 yes\n", 2), ("", 2)):
        path = tmp_path / "batch"
        path.write_text(f"STAT vmstat\nSTART 20261121120000\nISEC 5\n{tag}{VMSTAT}END\n")
        (found,) = Survey(ImportOptions(), Budget(1 << 30, 10), {}).run([path])
        assert found.spec is not None
        result = read(found.spec, VMSTAT.encode(), state={}, offset=0, is_final=True, timing=found.timing)
        assert sum(map(len, result.blocks)) == n_samples


@pytest.mark.parametrize("order", ["before", "after"])
def test_what_an_agent_collected_is_read_with_its_command(tmp_path: Path, order: str) -> None:
    """`normstat-agent collect` leaves the command beside the output; an archive may have them in any order."""
    raw = f"1795305600\n{VMSTAT}1795305660\n{VMSTAT}".encode()
    files = {"vmstat_linux.1.2-1.raw": raw, "vmstat_linux.1.2-1.cmd": b"@60 vmstat 5 3\n"}
    with tarfile.open(tmp_path / "spool.tar", "w") as archive:
        for name in sorted(files, reverse=order == "after"):
            info = tarfile.TarInfo(f"spool/{name}")
            info.size = len(files[name])
            archive.addfile(info, io.BytesIO(files[name]))
    found = [one for one in Survey(ImportOptions(), Budget(1 << 30, 10), {}).run([tmp_path / "spool.tar"]) if one.spec]
    assert [one.look.command for one in found] == ["@60 vmstat 5 3"]
    assert found[0].spec is not None
    result = read(found[0].spec, raw, state={}, offset=0, is_final=True, timing=found[0].timing, command=found[0].look.command)
    assert sum(map(len, result.blocks)) == 4


def test_what_the_agent_writes_beside_an_output_is_not_listed(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    key = "vmstat_linux.1795305600.4711-1"
    for suffix, text in (("raw", VMSTAT), ("cmd", "vmstat 5 3\n"), ("ack", "           1200  1795305605\n"), ("err", "")):
        (spool / f"{key}.{suffix}").write_text(text)
    (spool / "collect.info").write_text("host=web1\nos=linux\n")
    (spool / "iostat_linux.1795305600.4711-2.err").write_text("sh: iostat: not found\n")
    (spool / "notes.ack").write_text("of somebody else\n")
    found = Survey(ImportOptions(), Budget(1 << 30, 10), {}).run([spool])
    listed = {one.path.rpartition("/")[2]: (one.look.command, one.look.note) for one in found}
    assert listed.keys() == {f"{key}.raw", "iostat_linux.1795305600.4711-2.err", "notes.ack"}
    assert listed[f"{key}.raw"][0] == "vmstat 5 3"
    assert listed["iostat_linux.1795305600.4711-2.err"][1] == "the tool's standard error: 'sh: iostat: not found'"


APP_TIMES = """name = "app_times"
tool = "app_times"
os = "any"
title = "Response times"
version = 1
commands = ["app_times 10"]
reader = "fixed_columns"
[layout]
stat = "app_times"
columns = ["login", "search"]
time = "line"
[[stats]]
name = "app_times"
title = "Response times"
source = "app_times"
defaults = { unit = "s", worse = "higher", decimals = 2 }
fields = [
  { key = "login_s", column = "login", help = "Time to log in." },
  { key = "search_s", column = "search", help = "Time of a search." },
]
"""


def test_a_section_of_batchload_is_read_by_the_users_spec_of_its_name(tmp_path: Path) -> None:
    rows = b"1.00 3.40\n1.10 3.40\n"
    path = tmp_path / "batch"
    path.write_bytes(b"STAT APP_TIMES\nHOST v440\nSTART 20060301100000\nISEC 10\n" + rows + b"END\n")
    assert install_user_specs([UserSpecText("app_times", APP_TIMES, 1)], "r1") == {}
    try:
        (found,) = Survey(ImportOptions(), Budget(1 << 30, 10), {}).run([path])
    finally:
        install_user_specs([], "")
    assert found.spec is not None
    result = read(found.spec, rows, state={}, offset=0, is_final=True, timing=found.timing)
    [block] = result.blocks
    assert block.time_us.tolist() == [1_141_207_200_000_000, 1_141_207_210_000_000]
    assert [values.tolist() for values in block.values] == [[1.0, 1.1], [3.4, 3.4]]
    # Without the spec nobody knows two numbers.
    (unknown,) = Survey(ImportOptions(), Budget(1 << 30, 10), {}).run([path])
    assert unknown.spec is None


BATCHLOAD = f"""STAT vmstat
HOST web1
TITLE before the patch
START 20261121120000
ISEC 5
{VMSTAT}END
#STAT: mpstat
<HOST=web1>
START: 20261121120000

{MPSTAT}END
"""


def split(data: bytes, cuts: list[int]) -> list[tuple[dict[str, str], int, int, bytes]]:
    splitter = Splitter()
    sections: list[tuple[dict[str, str], int, int, bytes]] = []
    held = b""
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    pieces = [data[begin:end] for begin, end in itertools.pairwise(bounds)]
    for number, piece in enumerate(pieces):
        for section, part, ends in splitter.feed(piece, is_final=number == len(pieces) - 1):
            held += part
            if ends:
                sections.append((section.tags, section.begin, section.end, held))
                held = b""
    return sections


@given(st.lists(st.integers(0, 2000), max_size=8))
def test_sections_are_found_however_the_bytes_come(cuts: list[int]) -> None:
    data = BATCHLOAD.encode()
    assert is_batchload(data)
    sections = split(data, cuts)
    assert [tags["STAT"] for tags, *_ in sections] == ["vmstat", "mpstat"]
    assert [body.decode() for *_, body in sections] == [VMSTAT, MPSTAT]
    assert all(data[begin:end] == body for _, begin, end, body in sections)
    assert sections[0][0]["TITLE"] == "before the patch"
    assert sections[1][0]["HOST"] == "web1"


def test_a_file_without_end_ends_its_section() -> None:
    data = BATCHLOAD.encode()[:-4] + b"12:00:04     all"
    assert split(data, [])[-1][3].endswith(b"12:00:04     all")


@pytest.mark.parametrize("text", [VMSTAT, MPSTAT, "", "HOST web1\n" + VMSTAT, "# STATISTICS\n", "START 5\nEND\n"])
def test_other_files_are_no_batchload(text: str) -> None:
    assert not is_batchload(text.encode())


def test_tags_of_times() -> None:
    noon = int(dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC).timestamp()) * 1_000_000
    assert times_of({"START": "20261121120000", "ISEC": "5"}, None) == (noon, 5_000_000)
    assert times_of({"START": "20261121130000"}, "Europe/Berlin") == (noon, None)
    assert times_of({"START": "yesterday", "ISEC": "-1"}, None) == (None, None)
    assert times_of({"ISEC": "nan"}, None) == times_of({"ISEC": "inf"}, None) == (None, None)


def survey(*paths: Path, **options: object) -> list[Found]:
    return Survey(ImportOptions(**options), Budget(1 << 40, 1000), {}).run(paths)  # type: ignore[arg-type]


def test_a_first_line_that_is_longer_than_what_is_looked_at_is_read_whole(tmp_path: Path) -> None:
    """A report of `atop -J ALL` is one line: of a host with many processes it is longer than the beginning of other files."""
    threads = ", ".join(f'{{"pid": {pid}, "utime": 1, "stime": 1, "tgid": 1, "isproc": 0}}' for pid in range(2, 2000))
    report = '{{"host": "web1", "timestamp": {}, "elapsed": 5, "CPL": {{"csw": 50}}, "PRC": [{}]}}\n'
    lines = [report.format(at, threads) for at in (100, 105)]
    (tmp_path / "report").write_text("".join(lines))
    (found,) = survey(tmp_path / "report")
    assert len(lines[0]) > 1 << 16
    assert found.spec is not None
    assert found.spec.name == "atop"


def test_sections_are_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "batch").write_text("\n" + BATCHLOAD)
    first, second = survey(tmp_path / "batch")
    assert (first.path, second.path) == (f"{tmp_path}/batch#1 vmstat", f"{tmp_path}/batch#2 mpstat")
    assert first.spec is not None
    assert second.spec is not None
    assert times(VMSTAT, first.look) == ["21 12:00:05", "21 12:00:10"]
    assert times(MPSTAT, second.look) == ["21 12:00:02", "21 12:00:03"]
    assert "HOST says web1" in first.look.note


def test_days_come_from_the_name_the_neighbours_or_the_last_change(tmp_path: Path) -> None:
    (tmp_path / "mpstat.out").write_text(MPSTAT)
    (alone,) = survey(tmp_path)
    assert NO_DATE_NOTE in alone.look.note
    assert not alone.is_loadable
    assert times(MPSTAT, alone.look) == ["none", "none"]
    (tmp_path / "banner.out").write_text(BANNER + MPSTAT)
    with_neighbour = survey(tmp_path)[1]
    assert times(MPSTAT, with_neighbour.look) == ["21 12:00:02", "21 12:00:03"]
    assert "the files beside it" in with_neighbour.look.note
    (tmp_path / "mpstat_20250203.out").write_text(MPSTAT)
    named = survey(tmp_path / "mpstat_20250203.out")[0]
    assert named.timing.date == dt.date(2025, 2, 3)


def test_the_day_of_the_last_change_is_that_of_the_last_line(tmp_path: Path) -> None:
    long = MPSTAT + MPSTAT.splitlines()[1].replace("12:00:02", "23:59:59") + "\n"
    long += "".join(MPSTAT.splitlines()[1].replace("12:00:02", f"{hour:02}:00:00") + "\n" for hour in (5, 11, 17, 23, 4))
    path = tmp_path / "mpstat.out"
    path.write_text(long)
    changed_at = dt.datetime(2026, 11, 23, 4, 0, 1, tzinfo=dt.UTC).timestamp()
    os.utime(path, (changed_at, changed_at))
    (found,) = survey(path, takes_date_from_mtime=True)
    assert found.timing.date == dt.date(2026, 11, 21)
    assert times(long, found.look)[-1] == "23 04:00:00"
    (found,) = survey(path)
    assert found.timing.date is None
