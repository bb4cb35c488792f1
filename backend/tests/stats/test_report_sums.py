"""Sums by command of the processes of a report."""

from collections.abc import Mapping

import pytest

from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.engine.report_sums import PROCESSES, ReportSums
from normstat.stats.readers import READERS, read
from normstat.stats.records import Int64Array, SampleBlock
from normstat.stats.spec import Stat
from tests.stats.reading import read_pieces, rows_of_result

SUMMARIES = [(spec, stat) for spec in load_catalogue().specs.values() for stat in spec.stats if stat.summary_of]
HEAD = b"# Time        UID       PID    %usr %system    %CPU     RSS   kB_rd/s  Command\n"


def row(clock: str, pid: int, command: str, usr: str = "1.00", *, reads: str = "0.00") -> bytes:
    return f"{clock}     0  {pid}    {usr}    0.50    1.50   100   {reads}  {command}\n".encode()


def sums(
    data: bytes, spec: str = "pidstat_linux", stat: str = "pidstat_linux_command"
) -> list[tuple[int, str, Mapping[str, float]]]:
    reading = read_pieces(require_spec(spec), [data])
    found = [item for item in reading.rows if item.stat == stat]
    return [
        (
            item.time_us // 1_000_000 - 1_795_305_600,
            item.instance,
            {key: value for (key, _), value in zip(item.columns, item.values, strict=True)},
        )
        for item in found
    ]


def test_processes_of_a_command_are_added_and_nothing_is_invented() -> None:
    data = (
        HEAD
        + row("1795305601", 7, "php-fpm", "0.10")
        + row("1795305601", 8, "php-fpm", "0.20", reads="-1.00")
        + row("1795305601", 9, "my app")
    )
    assert sums(data) == [
        (1, "php-fpm", {"processes": 2, "usr_pct": 0.3, "system_pct": 1.0, "cpu_pct": 3.0, "rss_kb": 200, "kb_rd_per_s": 0.0}),
        (1, "my app", {"processes": 1, "usr_pct": 1.0, "system_pct": 0.5, "cpu_pct": 1.5, "rss_kb": 100, "kb_rd_per_s": 0.0}),
    ]


def test_a_report_ends_with_its_time_or_where_a_process_comes_again() -> None:
    data = HEAD + b"".join(row(f"179530560{at}", 7, "sh") for at in (1, 1, 2))
    assert [(at, values["processes"], values["cpu_pct"]) for at, _, values in sums(data)] == [(1, 1, 1.5), (1, 1, 1.5), (2, 1, 1.5)]


def test_tables_of_one_report_are_one_row() -> None:
    usr, io = b"# Time UID PID %usr Command\n", b"# Time UID PID kB_rd/s Command\n"
    data = (
        usr
        + b"1795305601 0 7 2.00 sh\n1795305601 0 8 1.00 sh\n"
        + io
        + b"1795305601 0 7 5.00 sh\n"
        + usr
        + b"1795305602 0 7 0.00 sh\n"
    )
    assert sums(data) == [
        (1, "sh", {"processes": 2, "usr_pct": 3.0, "kb_rd_per_s": 5.0}),
        (2, "sh", {"processes": 1, "usr_pct": 0.0}),
    ]


def test_threads_are_not_counted_again_and_threads_of_the_kernel_are_one_command() -> None:
    head = b"# Time UID TGID TID %usr Command\n"
    data = (
        head + b"1795305601 0 7 - 3.00 java\n1795305601 0 - 8 2.00 |__java\n1795305601 0 9 - 1.00 kworker/0:1-events\n"
        b"1795305601 0 10 - 1.00 kworker/u8:2-wb\n"
    )
    assert sums(data) == [(1, "java", {"processes": 1, "usr_pct": 3.0}), (1, "kworker", {"processes": 2, "usr_pct": 2.0})]


def test_rows_without_a_time_are_summed_no_more_than_they_are_samples() -> None:
    result = read(require_spec("pidstat_linux"), HEAD + row("12:00:01", 7, "sh"), state={}, offset=0, is_final=True)
    assert [block.stat.name for block in result.blocks] == ["pidstat_linux"]


def test_a_report_that_lost_bytes_is_not_summed() -> None:
    spec = require_spec("pidstat_linux")
    first = read(spec, HEAD + row("1795305601", 7, "sh") + row("1795305601", 8, "sh"), state={}, offset=0)
    rest = b"lost\n" + row("1795305602", 8, "sh") + row("1795305603", 7, "sh") + row("1795305604", 7, "sh")
    result = read(spec, rest, state=state_after_gap(first.state), offset=9000)
    found = [item for item in rows_of_result(result) if item.stat == "pidstat_linux_command"]
    assert [(item.time_us // 1_000_000 - 1_795_305_600, item.instance) for item in found] == [(3, "sh")]


def report(second: int, *, n: int = 12, usr: str = "1.25", again: int = 0) -> bytes:
    rows = [row(f"17953057{second:02d}", 100 + pid, f"worker{pid % 4}", usr) for pid in range(n)]
    return b"".join(rows + rows[:again])


MANY = {
    "alike": [report(at) for at in range(40)],
    "growing": [report(at, n=at + 1) for at in range(40)],
    "a process twice": [report(at, again=int(at == 20)) for at in range(40)],
    "a value missing": [report(at, usr="-1.00" if at == 20 else "1.25") for at in range(40)],
    "a value not canonical": [report(at, usr="01.25" if at == 20 else "1.25") for at in range(40)],
    "sums beyond exact floats": [report(at, usr="40000000000000.25" if at == 20 else "1.25") for at in range(40)],
    "threads": [report(at) + f"17953057{at:02d}     0  100  7  1.00  0.50  1.50  100  0.00  |__sh\n".encode() for at in range(40)],
    "threads of the kernel": [
        report(at) + b"".join(row(f"17953057{at:02d}", 7 + cpu, f"kworker/{cpu}:1-events") for cpu in range(3)) for at in range(40)
    ],
    "the same of two names": [
        report(at) + row(f"17953057{at:02d}", 7, "kworker/0:1") + row(f"17953057{at:02d}", 7, "kworker/1:1") for at in range(40)
    ],
    "back in time": [report(at % 20) for at in range(40)],
    "five reports": [report(at, n=40) for at in range(5)],
}


@pytest.mark.parametrize("name", MANY)
def test_many_reports_are_summed_as_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = require_spec("pidstat_linux")
    data = HEAD + b"".join(MANY[name])
    whole = read_pieces(spec, [data], "pidstat -urd -h 1")
    assert read_pieces(spec, [data[at : at + 997] for at in range(0, len(data), 997)], "pidstat -urd -h 1") == whole
    monkeypatch.setattr(ReportSums, "_sum_reports", lambda *_arguments: None)
    assert read_pieces(spec, [data], "pidstat -urd -h 1") == whole
    assert sum(item.stat == "pidstat_linux_command" for item in whole.rows) >= 20


def test_the_sums_of_whole_reports_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    sum_reports = ReportSums._sum_reports

    def note(sums: ReportSums, block: SampleBlock, ends: Int64Array) -> object:
        found = sum_reports(sums, block, ends)
        counts.append(0 if found is None else len(found[1].time_us))
        return found

    monkeypatch.setattr(ReportSums, "_sum_reports", note)
    read_pieces(require_spec("pidstat_linux"), [HEAD + b"".join(MANY["alike"])], "pidstat -urd -h 1")
    assert counts == [38 * 4]


@pytest.mark.parametrize("stat", [stat for _, stat in SUMMARIES], ids=lambda stat: stat.name)
def test_a_summary_has_fields_that_may_be_added(stat: Stat) -> None:
    spec = load_catalogue().stats[stat.name][0]
    source = {field.key: field for field in load_catalogue().stats[stat.summary_of][1].fields}
    assert PROCESSES in {field.key for field in stat.fields}
    for field in stat.fields:
        makes_its_own = getattr(READERS[spec.reader].reader, "makes_summaries", False)
        if field.key != PROCESSES and not makes_its_own:
            of = source[field.key]
            assert (field.unit, field.decimals, field.kind, field.semantics) == (of.unit, of.decimals, of.kind, of.semantics)
            assert field.semantics != "counter"
