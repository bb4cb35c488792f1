"""Rates of processes and commands from /proc/PID: what a snapshot says, and what it does not say."""

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import LineKind
from tests.stats.proc_snapshots import EPOCH, Values, pids, rejected, rows, snapshot, stat_line
from tests.stats.reading import read_pieces

PIDS = require_spec("proc_pid_linux")
MALFORMED_REASON = "not a line of this file as Linux prints it"


def processes(text: str | Iterable[str]) -> list[tuple[float, str, Values]]:
    return rows(text, "linux_process", spec="proc_pid_linux")


def commands(text: str | Iterable[str]) -> list[tuple[float, str, Values]]:
    return rows(text, "linux_command", spec="proc_pid_linux")


def test_a_process_has_rates_of_its_counters() -> None:
    text = pids(0, stat_line(7, "java", utime=100, stime=10, minflt=50)) + pids(
        5, stat_line(7, "java", utime=350, stime=60, minflt=100, majflt=5, cutime=100, threads=9, rss=20)
    )
    first, second = processes(text)
    assert first == (0, "7/java", {"rss_kb": 40, "threads": 1, "running": 0, "blocked": 0})
    assert second == (
        5,
        "7/java",
        {
            "cpu_pct": 60.0, "usr_pct": 50.0, "system_pct": 10.0, "ended_pct": 20.0, "minflt_per_s": 10.0, "majflt_per_s": 1.0,
            "rss_kb": 80, "threads": 9, "running": 0, "blocked": 0,
        },
    )  # fmt: skip


def test_cpu_time_of_ended_children_is_counted_once() -> None:
    """gcc runs as, which no snapshot shows, and cc1; then both end at once. Then make has children that no snapshot shows."""
    text = [
        pids(0, stat_line(7, "make"), stat_line(8, "gcc", parent=7, utime=10), stat_line(9, "cc1", parent=8, utime=300)),
        # The 50 ticks of as are gcc's.
        pids(5, stat_line(7, "make"), stat_line(8, "gcc", parent=7, utime=10, cutime=50), stat_line(9, "cc1", parent=8, utime=700)),
        # gcc used 5 more, cc1 20: 785 in all, of which 760 were seen.
        pids(10, stat_line(7, "make", cutime=785)),
        pids(15, stat_line(7, "make", cutime=1000, cstime=35)),
    ]
    found = [
        (at, name, values["cpu_pct"], values["ended_pct"])
        for at, name, values in processes(text)
        if at and (values["cpu_pct"] or values["ended_pct"])
    ]
    assert found == [(5, "8/gcc", 0.0, 10.0), (5, "9/cc1", 80.0, 0.0), (10, "7/make", 0.0, 5.0), (15, "7/make", 0.0, 50.0)]
    assert [values["ended_pct"] for at, name, values in commands(text) if at and name == "make"] == [0.0, 5.0, 50.0]


# Whose turn it is, its ticks, those of a child that no snapshot shows, and whether it ends.
EVERY_S = 100
EVENTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99), st.integers(0, 99), st.booleans()), max_size=40)


@given(EVENTS)
def test_processes_and_their_ended_children_add_up_to_all_cpu_time(events: list[tuple[int, int, int, bool]]) -> None:
    """Processes start, use CPU time and end as they like, and are waited for. None uses more than a CPU between two snapshots."""
    # For each living process: its parent, its own ticks, and those of the children that it has waited for.
    alive: dict[int, list[int]] = {1: [0, 0, 0]}
    used, text = 0, [pids(0, stat_line(1, "init"))]
    for at, (pick, ticks, unseen, is_end) in enumerate(events, start=1):
        pid = sorted(alive)[pick % len(alive)]
        alive[pid][1] += ticks
        # A child that no snapshot shows.
        alive[pid][2] += unseen
        used += ticks + unseen
        if is_end and pid != 1:
            parent, own, waited = alive.pop(pid)
            alive[parent][2] += own + waited
            for child in alive.values():
                # Adopted: it is waited for by init.
                child[0] = 1 if child[0] == pid else child[0]
        else:
            alive[100 + at] = [pid, 0, 0]
        lines = [
            stat_line(
                pid, "sh", parent=parent, utime=own, cutime=waited, start=100 if pid == 1 else 100_000 + 100 * EVERY_S * (pid - 100)
            )
            for pid, (parent, own, waited) in sorted(alive.items())
        ]
        text.append(pids(at * EVERY_S, *lines))
    rates = [values for at, _, values in processes(text) if at]
    assert sum((values["cpu_pct"] or 0) + (values["ended_pct"] or 0) for values in rates) == pytest.approx(used / EVERY_S)


@pytest.mark.parametrize(
    ("adopter", "make"), [("init", 40), ("stage", 40), ("", 940)], ids=["process 1", "a subreaper", "the child ended first"]
)
def test_a_child_that_ends_with_its_parent_is_not_counted_again(adopter: str, make: int) -> None:
    """A killed group of processes leaves its children to init; a shell that waited for its child hands both to make."""
    adopted = dict.fromkeys(("init", "stage"), 0) | ({adopter: 900} if adopter else {})
    group = [stat_line(7, "sh", parent=5, utime=40), stat_line(8, "cc", parent=7, utime=900)]
    text = [
        pids(0, stat_line(1, "init", parent=0), stat_line(4, "stage"), stat_line(5, "make", parent=4), *group),
        pids(
            5,
            stat_line(1, "init", parent=0, cutime=adopted["init"]),
            stat_line(4, "stage", cutime=adopted["stage"]),
            stat_line(5, "make", parent=4, cutime=make),
        ),
    ]
    assert sum(values["ended_pct"] or 0 for at, _, values in commands(text) if at) == 0


@pytest.mark.parametrize("is_adopted", [True, False])
def test_a_process_that_ends_while_a_snapshot_is_printed_is_not_counted_again(*, is_adopted: bool) -> None:
    """Gone from the snapshot whose line of its heir came before: that has it in the next one. Or still in it, after the line."""
    parent = 1 if is_adopted else 7
    init, shell = stat_line(1, "init", parent=0), stat_line(7, "sh", parent=1)
    heir = stat_line(parent, "heir", parent=0, cutime=30_000)
    others = [shell if is_adopted else init]
    ended = stat_line(9, "python", parent=parent, utime=30_000)
    late = [pids(0, init, shell, ended), pids(5, init, shell), pids(10, heir, *others), pids(15, heir, *others)]
    early = [pids(0, init, shell, ended), pids(5, heir, *others, ended), pids(10, heir, *others)]
    for text in (late, early):
        assert sum(values["ended_pct"] or 0 for at, _, values in commands(text) if at) == 0
        # However the bytes come.
        pieces = [piece.encode() for piece in text]
        assert read_pieces(PIDS, pieces).rows == read_pieces(PIDS, [b"".join(pieces)]).rows


def test_a_number_that_is_used_again_owes_nothing() -> None:
    """The heir has 300 s of a process that the snapshot still shows; the next one of that number lives for 0.1 s."""
    shell, heir = stat_line(7, "sh", parent=1), stat_line(7, "sh", parent=1, cutime=30_000)
    text = [
        pids(0, shell, stat_line(9, "python", parent=7, utime=30_000)),
        pids(5, heir, stat_line(9, "python", parent=7, utime=30_000)),
        pids(10, heir, stat_line(9, "sed", parent=7, start=1_000, utime=10)),
        pids(15, heir),
        pids(20, stat_line(7, "sh", parent=1, cutime=30_500)),
    ]
    assert [(at, values["ended_pct"]) for at, name, values in commands(text) if at > 5 and name == "sh"] == [
        (10, 0.0), (15, 0.0), (20, 100.0),
    ]  # fmt: skip


def test_what_a_process_owes_is_taken_off_once() -> None:
    """Short children that no snapshot shows are counted again in the interval after, and beside a long one that lives on."""
    lives = stat_line(8, "worker", parent=7, utime=900)
    text = [
        pids(0, stat_line(7, "make"), lives, stat_line(9, "cc", parent=7, utime=300)),
        pids(5, stat_line(7, "make"), lives),
        pids(10, stat_line(7, "make", cutime=300 + 200), lives),
        pids(15, stat_line(7, "make", cutime=500 + 1000), lives),
        pids(20, stat_line(7, "make", cutime=1500 + 1000), lives),
    ]
    found = [(at, values["ended_pct"]) for at, name, values in commands(text) if at and name == "make"]
    # The third interval could be the worker's end; the fourth shows that it was not.
    assert found == [(5, 0.0), (10, 40.0), (15, 20.0), (20, 200.0)]


def test_anonymous_memory_is_what_is_resident_without_what_is_shared() -> None:
    lines = [stat_line(7, "postgres", rss=5000, state="R"), stat_line(8, "postgres", rss=9000), stat_line(9, "small")]
    # After the line of 8 comes a process without a heading, as head prints it.
    new = stat_line(10, "new", start=100_100, utime=5)
    memory = {7: "90000 5000 4200 1 0 900 0", 8: f"90000 9000 8990 1 0 900 0\n{new}", 99: "1 1 0 1 0 1 0"}
    text = pids(0, *lines) + pids(5, *lines, statm=memory)
    assert {(name, values.get("anon_kb")) for at, name, values in processes(text) if at} == {("7/postgres", 3200), ("10/new", None)}
    assert [(name, values.get("anon_kb")) for at, name, values in commands(text) if at] == [
        ("postgres", 3240), ("small", None), ("new", None),
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["1 2 3 4 5 6 x", "1 2 3 4 5 6 7\n1 2 3 4 5 6 7", f"1 {'9' * 19} 3 4 5 6 7"])
def test_memory_that_no_kernel_prints_is_rejected(line: str) -> None:
    text = pids(0, stat_line(7, "a"), statm={7: line})
    assert len(rejected(text, "proc_pid_linux")) == 1
    # However the bytes come.
    for cut in range(len(text)):
        pieces = [text[:cut].encode(), text[cut:].encode()]
        assert read_pieces(PIDS, pieces).rejected == read_pieces(PIDS, [text.encode()]).rejected


def test_a_circle_of_processes_that_ended_is_no_trouble() -> None:
    text = [
        pids(0, stat_line(7, "a", parent=8), stat_line(8, "b", parent=7), stat_line(9, "c")),
        pids(5, stat_line(9, "c", cutime=100)),
    ]
    assert [(name, values["ended_pct"]) for at, name, values in processes(text) if at] == [("9/c", 20.0)]


def test_a_process_without_a_change_has_no_row_unless_it_runs_or_is_blocked() -> None:
    lines = [stat_line(7, "idle"), stat_line(8, "busy", state="R"), stat_line(9, "stuck", state="D")]
    text = pids(0, *lines) + pids(5, *lines)
    assert [name for at, name, _ in processes(text) if at == 5] == ["8/busy", "9/stuck"]
    assert [(name, values["processes"], values["blocked"]) for at, name, values in commands(text) if at == 5] == [
        ("idle", 1, 0),
        ("busy", 1, 0),
        ("stuck", 1, 1),
    ]


def test_a_process_that_started_after_the_last_snapshot_did_all_in_this_interval() -> None:
    """At EPOCH the host was up for 1000 s: a start at 100100 is a second later."""
    text = pids(0, stat_line(7, "init")) + pids(5, stat_line(7, "init"), stat_line(80, "yes", utime=400, start=100_100))
    assert [(name, values.get("cpu_pct")) for at, name, values in processes(text) if at == 5] == [("80/yes", 80.0)]
    assert [(name, values["cpu_pct"], values["started_per_s"]) for at, name, values in commands(text) if at == 5] == [
        ("init", 0.0, 0.0),
        ("yes", 80.0, 0.2),
    ]


def test_a_process_that_started_earlier_and_was_not_seen_has_no_rates_at_first() -> None:
    text = pids(0, stat_line(7, "init")) + pids(5, stat_line(7, "init"), stat_line(80, "late", utime=400, start=500))
    assert [(name, "cpu_pct" in values) for at, name, values in processes(text) if at == 5] == [("80/late", False)]


def test_a_pid_that_is_used_again_is_another_process() -> None:
    text = pids(0, stat_line(7, "sh", utime=300)) + pids(5, stat_line(7, "sh", utime=400, start=100_250))
    assert [values["cpu_pct"] for at, _, values in processes(text) if at == 5] == [80.0]


def test_a_process_that_went_back_in_time_has_no_rates() -> None:
    text = pids(0, stat_line(7, "sh", utime=300)) + pids(5, stat_line(7, "sh", utime=200))
    assert [sorted(values) for at, _, values in processes(text) if at == 5] == [["blocked", "rss_kb", "running", "threads"]]


def test_a_command_is_the_sum_of_its_processes_and_ended_ones_are_gone() -> None:
    text = pids(0, *(stat_line(pid, "php-fpm", utime=100, threads=2) for pid in (7, 8, 9))) + pids(
        10, *(stat_line(pid, "php-fpm", utime=100 + 100 * pid, threads=2) for pid in (7, 8))
    )
    [first, second] = commands(text)
    assert first[2] == {"processes": 3, "rss_kb": 120, "threads": 6, "running": 0, "blocked": 0, "zombies": 0}
    assert (second[2]["processes"], second[2]["cpu_pct"], second[2]["rss_kb"]) == (2, 150.0, 80)


def test_names_with_blanks_and_parentheses_and_threads_of_the_kernel() -> None:
    kernel = 0x00200040
    lines = [
        stat_line(7, "tmux: server"), stat_line(8, "a) R (b"), stat_line(9, "kworker/0:1-events", flags=kernel),
        stat_line(10, "kworker/u8:3-wb", flags=kernel), stat_line(11, "kworker/mine"), stat_line(12, "ksoftirqd/1", flags=kernel),
    ]  # fmt: skip
    text = pids(0, *lines)
    assert [name for _, name, _ in commands(text)] == ["tmux: server", "a) R (b", "kworker", "kworker/mine", "ksoftirqd"]
    assert [name for _, name, _ in processes(text)][2:4] == ["9/kworker", "10/kworker"]


def test_pages_are_as_large_as_the_sizes_of_address_spaces_show() -> None:
    large = [stat_line(pid, "java", vsize=65536 * pid) for pid in range(1, 6)]
    assert [values["rss_kb"] for _, _, values in commands(pids(0, *large))] == [5 * 640]
    # Two sizes may both be multiples of 64 kB by chance.
    assert [values["rss_kb"] for _, _, values in commands(pids(0, *large[:2]))] == [None]
    assert [values["rss_kb"] for _, _, values in commands(pids(0, *large, stat_line(9, "java", vsize=4096 * 3)))] == [6 * 40]


IO = "rchar: {0}\nwchar: 0\nsyscr: 1\nsyscw: 1\nread_bytes: {0}\nwrite_bytes: {1}\ncancelled_write_bytes: 0"


@pytest.mark.parametrize("is_interleaved", [True, False])
def test_io_is_that_of_the_process_wherever_its_file_stands(is_interleaved: bool) -> None:
    def files(at_s: float, io: Mapping[int, tuple[int, int]]) -> str:
        lines = {pid: stat_line(pid, "dd" if pid < 9 else "cp") for pid in (7, 8, 9)}
        parts = {f"{pid}/stat": line for pid, line in lines.items()}
        texts = {f"{pid}/io": IO.format(*numbers) for pid, numbers in io.items()}
        merged = {key: value for pid in lines for key, value in [*parts.items(), *texts.items()] if key.startswith(f"{pid}/")}
        return snapshot(at_s, merged if is_interleaved else parts | texts)

    text = files(0, {7: (0, 0), 8: (1024, 0)}) + files(5, {7: (10240, 5120), 8: (6144, 0)})
    found = {name: values for at, name, values in processes(text) if at == 5}
    assert {name: (values["kb_rd_per_s"], values["kb_wr_per_s"], values["cpu_pct"]) for name, values in found.items()} == {
        "7/dd": (2.0, 1.0, 0.0),
        "8/dd": (1.0, 0.0, 0.0),
    }
    by_command = {name: values for at, name, values in commands(text) if at == 5}
    assert (by_command["dd"]["kb_rd_per_s"], by_command["dd"]["kb_wr_per_s"]) == (3.0, 1.0)
    # The agent could not read the I/O of cp.
    assert "kb_rd_per_s" not in by_command["cp"]


@pytest.mark.parametrize("is_late", [False, True])
def test_io_of_a_child_that_ended_is_not_its_parents_too(*, is_late: bool) -> None:
    """The kernel adds the I/O of a child to that of the process that waits for it. 4 KiB of it came after the last snapshot."""
    both = stat_line(7, "make"), stat_line(8, "dd", parent=7)
    wrote = 40 * 1024, 44 * 1024
    between = [] if not is_late else [pids(4, both[0], io={7: IO.format(0, 4096)})]
    text = [
        pids(0, *both, io={7: IO.format(0, 4096), 8: IO.format(0, wrote[0])}),
        *between,
        pids(8, both[0], io={7: IO.format(0, 4096 + wrote[1])}),
        pids(12, both[0], io={7: IO.format(0, 8192 + wrote[1])}),
    ]
    found = [(at, values["kb_wr_per_s"]) for at, name, values in commands(text) if at and name == "make"]
    assert found == ([(4, 0.0), (8, 1.0), (12, 1.0)] if is_late else [(8, 0.5), (12, 1.0)])
    pieces = [piece.encode() for piece in text]
    assert read_pieces(PIDS, pieces).rows == read_pieces(PIDS, [b"".join(pieces)]).rows


def test_io_of_a_new_process_and_of_one_with_a_used_pid() -> None:
    new = stat_line(7, "dd", start=100_200), stat_line(8, "cp", start=100_300)
    io = {7: IO.format(4096, 0), 8: IO.format(8192, 0)}
    text = pids(0, stat_line(7, "dd"), io={7: IO.format(9000, 0)}) + pids(4, *new, io=io)
    assert {name: values["kb_rd_per_s"] for at, name, values in processes(text) if at == 4} == {"7/dd": 1.0, "8/cp": 2.0}


@pytest.mark.parametrize("line", ["7 (sh) S 1 2", "x (sh) S " + "1 " * 30, "7 sh S", "7 (sh) SS " + "1 " * 30])
def test_a_line_that_is_no_process_is_rejected(line: str) -> None:
    assert len(rejected(snapshot(0, {"7/stat": line}), "proc_pid_linux")) == 1


def test_what_is_said_of_a_process_is_no_sample_and_hides_none() -> None:
    """The next process has no heading."""
    status = "==> /proc/7/status <==\nUid:\t0\t0\t0\t0\nUser:\troot\nArgs:\tjava 8 (x) S 1 -jar \\x0a 1795305600\n"
    one, two = stat_line(7, "java"), stat_line(8, "sh")
    plain = f"{EPOCH}\n==> /proc/uptime <==\n1000.00 0.00\n{one}\n"
    told = processes(plain + status + two + "\n")
    assert [(at, instance) for at, instance, _ in told] == [(0, "7/java"), (0, "8/sh")]
    result = read(PIDS, (plain + status + two + "\n").encode(), state={}, offset=0, is_final=True)
    assert result.accounts.n_lines[LineKind.IGNORED] == 3
    assert rejected(plain + status + "not a line\n", "proc_pid_linux") == [(9, MALFORMED_REASON)]
