"""What the readers of tracers remember from line to line: reports and their times, keys that come before or after, bounds."""

import datetime as dt
import json

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.trace.stacks import MAX_CHARACTERS, MAX_FRAMES
from normstat.stats.engine.trace.trace_reader import MAX_BLOCK
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, NO_TIMING, Timing
from tests.stats.reading import Row, guessed, read_pieces, rows_of_result

START_US = 1_795_262_401_000_000
STEP_US = 10_000_000
STEPS = Timing(start_us=START_US, interval_us=STEP_US)
DISTRIBUTION = """\
           value  ------------- Distribution ------------- count
               1 |@@@                                      3

"""


def rows(spec: str, text: str, timing: Timing = NO_TIMING) -> list[Row]:
    return rows_of_result(read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True, timing=timing))


def reasons(spec: str, text: str) -> list[str]:
    result = read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)
    return [line.reason for line in result.rejected]


def steps(spec: str, text: str) -> list[tuple[str, int]]:
    """Instance and number of the report of each sample."""
    return [(row.instance, (row.time_us - START_US) // STEP_US) for row in rows(spec, text, STEPS)]


def test_a_block_with_a_key_that_was_there_is_a_new_report_from_its_first_row() -> None:
    text = "  a   1\n  b   2\n\n  new 1\n  b   3\n\n  c   4\n"
    assert steps("dtrace", text) == [("a", 0), ("b", 0), ("new", 1), ("b", 1), ("c", 1)]


def test_a_block_that_is_longer_than_what_is_held_back_is_one_report() -> None:
    block = "".join(f"  key{number}   1\n" for number in range(MAX_BLOCK * 2 + 7))
    found = steps("dtrace", block + "\n" + block)
    assert {step for _, step in found[: len(found) // 2]} == {0}
    assert {step for _, step in found[len(found) // 2 :]} == {1}


def test_what_is_held_back_is_bounded() -> None:
    rows_of_long_keys = "".join(f"  {'x' * 15_000}{number}   1\n" for number in range(20))
    state = read(require_spec("dtrace"), rows_of_long_keys.encode(), state={}, offset=0).state
    assert len(json.dumps(state)) < 4 * MAX_CHARACTERS
    assert {step for _, step in steps("dtrace", rows_of_long_keys)} == {0}


def test_times_above_blocks_count_and_not_what_comes_again() -> None:
    text = "21:30:38\n@[a]: 1\n\n@n: 5\n\n21:30:39\n@[a]: 2\n"
    found = rows("bpftrace", text, Timing(date=dt.date(2026, 11, 21)))
    assert [row.time_us for row in found] == [1_795_296_638_000_000] * 2 + [1_795_296_639_000_000]
    assert {row.time_us for row in rows("bpftrace", text)} == {NO_TIME}


def test_what_comes_again_under_one_time_has_none() -> None:
    text = "2005 Apr 27 23:37:58,\n  a   1\n\n  a   2\n"
    first, second = rows("dtrace", text)
    assert first.time_us != NO_TIME
    assert second.time_us == NO_TIME


def test_events_of_one_time_are_of_one_report() -> None:
    text = "08:04:11 loadavg: 1.48 0.87 0.45 1/287 14547\n\nPID    COMM  COUNT\n1      sh    5\n1      sh    6\n"
    assert {row.time_us for row in rows("bcc", text, Timing(date=dt.date(2026, 11, 21)))} == {1_795_248_251_000_000}
    assert steps("bcc", text.partition("\n\n")[2]) == [("1 sh", 0), ("1 sh", 1)]


def test_tables_and_distributions_that_come_again_are_new_reports() -> None:
    table = "FUNC   COUNT\nread       1\n\n"
    assert [step for _, step in steps("perf_tools", table * 3)] == [0, 1, 2]
    assert [step for _, step in steps("dtrace", ("  a\n" + DISTRIBUTION + "  b\n" + DISTRIBUTION) * 2)] == [0, 0, 1, 1]
    titled = "Elapsed Times,\n\nSYSCALL   TIME (ns)\nread       1\n\nCPU Times,\n\nSYSCALL   TIME (ns)\nread       1\n\n"
    assert [step for _, step in steps("dtrace", titled * 2)] == [0, 0, 1, 1]


def test_rows_of_intervals_without_a_key_are_reports() -> None:
    assert [step for _, step in steps("dtrace", "TCP_out  TCP_in\n  1  2\n  3  4\n  5  6\n")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("above", "key"),
    [
        ("  bash\n", "bash"),
        ("      12\n", "12"),
        (" CPU 3\n", "CPU 3"),
        ("     1109  svc.startd\n", "1109 svc.startd"),
        (" CMD: bash  PID: 12508\n\n", "CMD: bash PID: 12508"),
        ("Location (KB),\n", "Location (KB)"),
        ("  a   1\n\n", ""),
        ("", ""),
        ("  java\n              a`b+0x1\n              a`c\n", "java;a`c;a`b+0x1"),
    ],
)
def test_keys_of_distributions(above: str, key: str) -> None:
    assert [row.instance for row in rows("dtrace", above + DISTRIBUTION) if "histogram" in row.stat] == [key + "{1}"]


def test_a_row_above_a_distribution_is_its_key_and_no_sample() -> None:
    assert [row.stat for row in rows("dtrace", "  a   1\n  b   2\n" + DISTRIBUTION)] == ["dtrace_keys", "dtrace_histogram"]
    assert [row.stat for row in rows("dtrace", "  a   1\n\n" + DISTRIBUTION)] == ["dtrace_keys", "dtrace_histogram"]


@pytest.mark.parametrize(
    "text",
    [
        "  a   99999999999999999999\n",
        "  a   -9223372036854775809\n",
        "  1 2 3 4 5 6 7 8 9\n",
        "  a 1.5 2\n",
        "reads writes commits\n   277337  14073874   272504\n",
        "   total   used   free   shared\nMem:   3861332   222820   3364176\n",
        "  a\n" + DISTRIBUTION.replace(" 3\n", " x\n"),
    ],
)
def test_numbers_that_cannot_be_right_are_refused(text: str) -> None:
    assert [row for row in rows("dtrace", text) if "histogram" not in row.stat] == []
    assert len(reasons("dtrace", text)) == 1


@pytest.mark.parametrize("spec", ["dtrace", "bcc"])
def test_a_stack_has_a_largest_depth(spec: str) -> None:
    deep = "".join(f"  f{number}+0x1\n" for number in range(MAX_FRAMES))
    assert len(rows(spec, deep + "     12\n")) == 1
    assert rows(spec, "  g+0x1\n" + deep + "     12\n") == []
    assert set(reasons(spec, "  g+0x1\n" + deep + "     12\n")) == {
        f"a stack of more than {MAX_FRAMES} frames or {MAX_CHARACTERS} characters"
    }


def test_a_stack_in_the_key_of_a_map_has_a_largest_depth() -> None:
    deep = "@[\n" + "    f+1\n" * (MAX_FRAMES + 1) + "]: 12\n@n: 5\n"
    assert [row.instance for row in rows("bpftrace", deep)] == ["@n"]
    assert reasons("bpftrace", deep)[0].startswith("a stack of more than")


def test_a_line_has_a_largest_length() -> None:
    for spec in ("dtrace", "bpftrace", "bcc", "systemtap"):
        assert reasons(spec, "x" * (MAX_CHARACTERS + 1) + " 5\n") == [f"line of more than {MAX_CHARACTERS} characters"]


def test_bytes_of_what_is_held_back_are_booked_once() -> None:
    spec = require_spec("dtrace")
    data = ("  a   1\n\n CMD: x  PID: 5\n\n" + DISTRIBUTION + "  java\n  a`b\n     3\n").encode()
    whole = read_pieces(spec, [data])
    for at in range(len(data)):
        assert read_pieces(spec, [data[:at], data[at:]]) == whole
    assert [row.instance for row in whole.rows] == ["a", "CMD: x PID: 5{1}", "java;a`b"]


def test_a_bare_list_is_taken_for_dtraces_and_other_text_is_not() -> None:
    assert guessed(b"  nscd      1\n  java     12284\n\n  nscd     2\n") == "dtrace"
    assert guessed(b"__vma_link 97\n", "stap/systemtap.txt") == "systemtap"
    assert guess_spec(b"Dear all,\nthe machine was slow at 5\nand at 7 as well, which nobody saw coming.\n") is None
    assert guess_spec(b"NAME READY AGE\nweb 1/1 5d\n") is None


ONE = "dtrace -q -n 'syscall:::entry { @[execname] = count(); } tick-10s { printa(@); }'"
OTHER = "dtrace -q -n 'io:::start { @[execname] = sum(args[0]->b_bcount); } tick-10s { printa(@); }'"


def instances(text: str, command: str = "", spec: str = "dtrace") -> list[str]:
    result = read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True, timing=STEPS, command=command)
    assert not result.rejected
    return [row.instance for row in rows_of_result(result)]


def test_keys_of_two_questions_are_two_series() -> None:
    (one,), (other,) = instances("  java   100\n", ONE), instances("  java   7\n", OTHER)
    assert one == "syscall:::entry @[execname] = count(): java"
    assert other == "io:::start @[execname] = sum(args[0]->b_bcount): java"


@pytest.mark.parametrize("prompt", ["# ", "[root@db1 ~]# ", "", "db1$ sudo "])
def test_a_command_of_several_lines_above_its_output_is_no_key(prompt: str) -> None:
    if prompt.startswith("db1"):
        prompt = "ann@db1:~$ sudo "
    first = "dtrace -n 'syscall:::entry { @[execname] = count(); }\n\n tick-10s { exit(0); }'\n"
    second = "dtrace -n 'io:::start { @[execname] = count(); }'\n"
    text = f"{prompt}{first}dtrace: description 'syscall:::entry ' matched 228 probes\n  java   100\n{prompt}{second}  java   7\n"
    wanted = ["syscall:::entry @[execname] = count(): java", "io:::start @[execname] = count(): java"]
    assert instances(text) == wanted
    found = rows("dtrace", text, STEPS)
    # Two questions do not make two reports.
    assert [row.time_us for row in found] == [START_US, START_US]
    for at in range(1, len(text), 7):
        pieces = read_pieces(require_spec("dtrace"), [text[:at].encode(), text[at:].encode()])
        assert [row.instance for row in pieces.rows] == wanted


def test_what_dtrace_says_of_its_program_names_the_question() -> None:
    text = (
        "dtrace: description 'syscall:::entry ' matched 228 probes\n  java   100\n\n"
        "dtrace: script './io/opens.d' matched 4 probes\n  java   7\n"
    )
    assert instances(text) == ["syscall:::entry: java", "opens: java"]
    # A title, which somebody chose, stays.
    assert instances(text, "dtrace.out # by name") == ["by name: java", "by name: java"]


def test_stacks_distributions_and_tables_bear_the_question() -> None:
    assert instances(f"  bash\n{DISTRIBUTION}", "dtrace -s sizes.d") == ["sizes: bash{1}"]
    assert instances(DISTRIBUTION, "dtrace -s sizes.d") == ["sizes{1}"]
    stack = "\n              unix`idle+0x3b\n              unix`thread_start+0x3\n              956\n"
    assert instances(stack, "dtrace -n 'profile-97 { @[stack()] = count(); }' # cpu; kernel") == [
        "cpu, kernel;unix`thread_start+0x3;unix`idle+0x3b"
    ]
    assert instances("@usecs:\n[256, 512)        2 |@@    |\n\n", "biolatency.bt", "bpftrace") == ["biolatency: @usecs{[256, 512)}"]


def test_a_quote_that_never_ends_costs_no_samples() -> None:
    assert instances("# ./don't 5\n  java   7\n") == ["don't: java"]


def test_a_page_of_prose_is_no_tracers() -> None:
    """A word with a backquote in it looks like a frame of a stack, and any text like a key of what follows."""
    page = (
        "# Notes\n\nlibc.so`read is called by the agent.\nlibc.so`read\n"
        + "Nothing here was printed by a tool, and it goes on.\n" * 100
    )
    assert guess_spec(page.encode(), "README.md") is None


def test_a_file_called_after_the_command_of_systemtap_is_systemtaps() -> None:
    """Its tables have any columns, so the text alone does not say who printed them."""
    text = b" PID  COMMAND  CONNECTS  FAILS\n 1234 curl           12      1\n 5678 java            3      0\n"
    assert guess_spec(text) is None
    assert guess_spec(text, "stap_tcp.txt") is require_spec("systemtap")
