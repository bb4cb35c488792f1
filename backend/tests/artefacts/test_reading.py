"""Texts become parts: what the source documents print, read and ranked; stacks of each format; hostile ones do no harm."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.packed_reading import INLINE_BYTES, ReadingRequest, pack_reading, read_packed
from normstat.artefacts.part_codec import pack_part, unpack_part
from normstat.artefacts.part_making import split_tables
from normstat.artefacts.parts import Part, StackPart, TablePart
from normstat.artefacts.perf_script import name_frame
from normstat.artefacts.reading import ArtefactReading, read_artefact
from normstat.artefacts.stack_formats import find_stack_format
from normstat.artefacts.table_view import TableRequest, merge_rows, view_table
from normstat.artefacts.tools import Effect, is_artefact
from normstat.errors import NotFound
from normstat.stats.catalogue import require_spec
from tests.golden_captures import Capture, captures

LOCKSTAT = b"""Adaptive mutex spin: 3318 events
Count indv cuml rcnt spin Lock Caller
-------------------------------------------------------------------------------
601 18% 18% 1.00 1 flock_lock cleanlocks+0x10
302 9% 27% 1.00 7 0xf597aab0 dev_get_dev_info+0x4c
Adaptive mutex block: 24 events
Count indv cuml rcnt nsec Lock Caller
-------------------------------------------------------------------------------
1 4% 100% 1.00 1167000 0xf5c46910 cleanlocks+0x50
3 12% 12% 1.00 90333 0xf5b3c738 ddi_prop_search_common+0x50
"""
TRUSS = b"""syscall      seconds   calls  errors
open             .26    2868
close            .43   17209
getpid           .44   17208
dup              .31   14341
sigprocmask      .65   28690
                ----     ---    ---
sys totals:     2.09   80316      0
usr time:        .39
elapsed:        6.51
"""
TICKS = b"""
  read                                                          12284
  write                                                             7

  read                                                          11938
  write                                                             9
"""

FOLDED = b"java;start_thread;run;read 12\njava;start_thread;GC 55\njava;start_thread;run;read 3\n"
PERF = b"""# captured on: Sat Nov 28 2026
dd 4711/4712 [000]   100.500000:   10101010 cpu-clock:ppp:
\tffffffff8104f45a native_write_msr+0xa ([kernel.kallsyms])
\t          1aef43 _PyObject_Free+0x163 (/usr/lib/libpython3.11.so.1.0)
\t    7f1ea1e56240 [unknown] (/usr/lib/libc.so.6)

dd 4711/4712 [001]   101.000000:   10101010 cpu-clock:ppp:
\t          1aef43 _PyObject_Free+0x163 (/usr/lib/libpython3.11.so.1.0)
\t    7f1ea1e56240 [unknown] (/usr/lib/libc.so.6)

Web Content 99 [001]   102.500000:          1 page-faults:
\t          59fef5 memset (/usr/lib/libc.so.6)
"""
JSTACK = b"""2026-11-28 00:10:01
Full thread dump OpenJDK 64-Bit Server VM (17.0.1+12 mixed mode):

"pool-1-thread-7" #17 prio=5 os_prio=0 tid=0x00007f nid=0x1b waiting on condition [0x00007f]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)
\t- parking to wait for  <0x00000007> (a java.util.concurrent.locks.AbstractQueuedSynchronizer)
\tat java.util.concurrent.locks.LockSupport.park(LockSupport.java:341)

"VM Thread" os_prio=0 tid=0x00007f nid=0x2 runnable
"""
GDB = b"""Thread 2 (Thread 0x7f1ea1 (LWP 4712)):
#0  0x00007f in poll () from /lib64/libc.so.6
#1  0x000055 in run (arg=0x0) at main.c:12
Thread 1 (Thread 0x7f1ea0 (LWP 4711)):
#0  main () at main.c:40
"""
SOLARIS = b"""4711:\t/usr/bin/mqd -d
-----------------  lwp# 1 / thread# 1  --------------------
 fef5a0c7 lwp_park (0, 0, 0)
 08050a12 main     (1, 8047d60) + 32
"""


def only(parts: object, kind: type[Part]) -> list[Part]:
    assert isinstance(parts, list | tuple)
    return [part for part in parts if isinstance(part, kind)]


def test_lockstat_by_lock_and_caller() -> None:
    found = read_artefact(LOCKSTAT, command="lockstat sleep 5")
    spins, blocks, sections = found.parts
    assert isinstance(spins, TablePart)
    assert isinstance(blocks, TablePart)
    assert isinstance(sections, TablePart)
    assert (spins.weight, blocks.weight, found.duration_s, found.effect) == ("total_spins", "total_ns", 5.0, Effect.LIGHT)
    assert spins.key_names == ("section", "lock", "caller")
    assert [key[0] for key in spins.keys] == ["Adaptive mutex spin", "flock_lock", "cleanlocks+0x10"]
    view = view_table(blocks, TableRequest())
    assert [(row.key[1], row.values[-1]) for row in view.rows] == [("0xf5c46910", 1_167_000), ("0xf5b3c738", 270_999)]
    assert dict(zip(sections.keys[0], sections.column("events"), strict=True)) == {
        "Adaptive mutex spin": 3318,
        "Adaptive mutex block": 24,
    }


def test_truss_says_how_long_it_watched() -> None:
    found = read_artefact(TRUSS)
    assert (found.tool, found.duration_s, found.effect, found.n_rejected) == ("truss", 6.51, Effect.HEAVY, 0)
    table = found.parts[0]
    assert isinstance(table, TablePart)
    assert view_table(table, TableRequest()).rows[0].key == ["sigprocmask"]
    assert view_table(table, TableRequest(order="calls")).total == 2868 + 17209 + 17208 + 14341 + 28690


def test_repeated_reports_are_summed_or_shown_alone() -> None:
    (table,) = read_artefact(TICKS, spec="dtrace").parts
    assert isinstance(table, TablePart)
    assert table.report == [0, 0, 1, 1]
    assert [(row.key, row.values) for row in merge_rows(table, ("key",))] == [(("read",), [24222]), (("write",), [16])]
    assert view_table(table, TableRequest(report=1)).rows[0].values == [11938]


def test_stacks_share_their_beginnings() -> None:
    text = b"""
              unix`idle+0x3b
              unix`thread_start+0x3
              900

              unix`swtch+0x11
              unix`idle+0x3b
              unix`thread_start+0x3
               56
"""
    (part,) = only(read_artefact(text, spec="dtrace").parts, StackPart)
    assert isinstance(part, StackPart)
    assert [part.names[name] for name in part.name] == ["", "unix`thread_start+0x3", "unix`idle+0x3b", "unix`swtch+0x11"]
    assert (part.parent.tolist(), part.values[0].tolist(), part.n_stacks) == ([0, 0, 1, 2], [0, 0, 900, 56], 2)


@pytest.mark.parametrize(
    "capture", [each for each in captures() if is_artefact(require_spec(each.spec))], ids=lambda each: each.name
)
def test_every_capture_makes_parts_that_come_back(capture: Capture) -> None:
    """What a tool of artefacts prints becomes parts with all its rows, and they come back from their packed form."""
    found = pack_reading(capture.path, ReadingRequest(spec=capture.spec))
    for packed in found.parts:
        part = unpack_part(packed.body)
        assert (part.kind, part.stat, part.n_rows) == (packed.kind, packed.stat, packed.n_rows)
        if isinstance(part, TablePart) and part.columns:
            assert len(view_table(part, TableRequest(limit=1000)).rows) > 0


DTRACE_CALL = """dtrace -q -n 'syscall::read:entry
        { @[tid] = count();}
        tick-10s { printa(@); clear(@); }'"""
STRACE_CALL = "sudo timeout 30 strace -c \\\n  -p 77"
STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.000010           5         2           read
"""


@pytest.mark.parametrize(
    ("text", "command", "duration_s"),
    [
        (f"# {DTRACE_CALL}\n\n  5   2563\n\n  5   2462\n", DTRACE_CALL, 10.0),
        (f"[root@web1 ~]# {STRACE_CALL}\n{STRACE}", STRACE_CALL, 30.0),
        (STRACE, "", None),
        # Two calls: the text is of neither.
        ("$ lockstat sleep 5\n\nAdaptive mutex spin: 10 events\n$ lockstat sleep 7\n", "", None),
        ("# lockstat is a tool of Solaris, and this is a text about it\nwith words\n", "", None),
    ],
    ids=["dtrace", "strace", "no-call", "two-calls", "prose"],
)
def test_the_command_above_an_output_is_its_command(text: str, command: str, duration_s: float | None) -> None:
    found = read_artefact(text.encode())
    assert (found.command, found.duration_s) == (command, duration_s)


@pytest.mark.slow
@pytest.mark.matrix
async def test_a_large_text_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(TRUSS + b"\n" * INLINE_BYTES)
    found = await read_packed(path, ReadingRequest())
    same = pack_reading(path, ReadingRequest())
    assert (found.tool, found.duration_s, found.n_bytes, found.sha256) == ("truss", 6.51, path.stat().st_size, same.sha256)
    assert [unpack_part(part.body) for part in found.parts] == [unpack_part(part.body) for part in same.parts]
    with pytest.raises(NotFound, match="nosuch"):
        await read_packed(path, ReadingRequest(spec="nosuch"))


@pytest.mark.parametrize("text", [b"\x00" * 100, b"\xff\xfe\n", b"\n", b"a" * 10_000, b"<script>alert(1)</script>\n"])
def test_what_nobody_reads_has_no_parts(text: bytes) -> None:
    found = read_artefact(text)
    assert (found.tool, list(found.parts)) == ("", [])


def test_a_table_of_very_many_rows_becomes_parts_that_lose_none() -> None:
    [truss] = [part for part in read_artefact(TRUSS, name="truss.txt").parts if part.n_rows == 5]
    assert isinstance(truss, TablePart)
    found = [part for part in split_tables([truss], most=2) if isinstance(part, TablePart)]
    assert [part.title for part in found] == [f"{truss.title}, rows {rows} of 5" for rows in ("1 to 2", "3 to 4", "5 to 5")]
    assert [key for part in found for key in part.keys[0]] == list(truss.keys[0])
    assert [value for part in found for value in part.values[0]] == list(truss.values[0])
    assert list(split_tables([truss], most=5)) == [truss]


def stacks_of(part: StackPart, column: str = "") -> Counter[str]:
    """Return the weight of each folded stack of a part."""
    at = [each.key for each in part.columns].index(column or part.weight)
    paths = [""]
    for parent, name in zip(part.parent[1:].tolist(), part.name[1:].tolist(), strict=True):
        paths.append(f"{paths[parent]};{part.names[name]}".strip(";"))
    return Counter({path: weight for path, weight in zip(paths, part.values[at].tolist(), strict=True) if weight})


def read_stacks(text: bytes, command: str = "") -> tuple[ArtefactReading, list[StackPart]]:
    found = read_artefact(text, command=command)
    parts = [part for part in found.parts if isinstance(part, StackPart)]
    assert len(parts) == len(found.parts)
    return found, parts


def test_folded_stacks_add_up() -> None:
    found, [part] = read_stacks(FOLDED)
    assert (found.tool, found.spec, found.effect, found.n_lines, found.n_rejected) == ("folded", "folded", "light", 3, 0)
    assert stacks_of(part) == {"java;start_thread;run;read": 15, "java;start_thread;GC": 55}
    assert part.columns[0].unit == ""


@pytest.mark.parametrize(("command", "unit"), [("offcputime -f 10", "us"), ("profile -f 10", ""), ("offcpu.folded", "us")])
def test_times_off_the_cpu_have_a_unit(command: str, unit: str) -> None:
    _, [part] = read_stacks(FOLDED, command)
    assert part.columns[0].unit == unit


def test_lines_that_are_no_stacks_are_counted_and_kept() -> None:
    text = FOLDED * 20 + b"java;run -5\njava;run\njava;run 1e999\n\n# a note\njava;run 2.5\n"
    found, [part] = read_stacks(text)
    assert (found.n_rejected, [line.text for line in found.rejected]) == (3, ["java;run -5", "java;run", "java;run 1e999"])
    assert {line.line_no for line in found.rejected} == {61, 62, 63}
    assert stacks_of(part)["java;run"] == 2.5


def test_perf_script_is_a_part_for_each_event() -> None:
    found, [clock, faults] = read_stacks(PERF)
    assert (found.tool, found.spec, found.duration_s, found.n_rejected) == ("perf", "perf_script", 2.0, 0)
    below = "dd/4712;[libc.so.6];_PyObject_Free"
    assert stacks_of(clock) == {below: 1, f"{below};native_write_msr_[k]": 1}
    assert sum(stacks_of(clock, "period").values()) == 20_202_020
    assert [column.unit for column in clock.columns] == ["", "ns"]
    assert stacks_of(faults) == {"Web Content/99;memset": 1}


def test_perf_script_with_fields_chosen() -> None:
    bare = b"cycles: \n\t  59fef5 memset (/lib/libc.so.6)\n\ncycles: \n\t  59fef5 memset (/lib/libc.so.6)\n\n"
    assert stacks_of(read_stacks(bare)[1][0]) == {"memset": 2}
    flat = b"dd 4711 100.5:    250000 cycles:  ffffffff8104f45a copy_page+0x7 ([kernel.kallsyms])\n" * 3
    assert stacks_of(read_stacks(flat)[1][0]) == {"dd/4711;copy_page_[k]": 3}


@pytest.mark.parametrize(
    ("text", "tool", "stacks"),
    [
        (
            JSTACK,
            "jstack",
            {"pool-1-thread/7;WAITING;java.util.concurrent.locks.LockSupport.park;jdk.internal.misc.Unsafe.park": 1},
        ),
        (GDB, "pstack", {"thread/4712;run;poll": 1, "thread/4711;main": 1}),
        (SOLARIS, "pstack", {"mqd/1;main;lwp_park": 1}),
    ],
)
def test_thread_dumps(text: bytes, tool: str, stacks: dict[str, int]) -> None:
    found, [part] = read_stacks(text)
    assert (found.tool, stacks_of(part)) == (tool, stacks)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"7fff foo(int, char const*)+0x1f (/usr/bin/a b)", "foo(int, char const*)"),
        (b"ffffffffa0 nfs_read ([nfs])", "nfs_read_[k]"),
        (b"7fff __vdso_gettimeofday ([vdso])", "__vdso_gettimeofday"),
        (b"7fff [unknown] ([unknown])", "[unknown]"),
        (b"7fff Lcom/acme/A;::run (/tmp/perf-1.map)", "Lcom/acme/A;::run"),
        (b"no frame of any kind", None),
    ],
)
def test_names_of_frames(line: bytes, name: str | None) -> None:
    assert name_frame(line) == name


def test_a_function_name_is_text_whatever_it_holds() -> None:
    names = "<script>alert(1)</script>", "a\x00b\x1b[31m", "\u202eesrever", "f" * 10_000
    text = ";".join(["main", *names]).encode() + b" 3\n" + b"main;\xff\xfe\xed\xa0\x80 2\n"
    _, [part] = read_stacks(text)
    assert {"<script>alert(1)</script>", "a�b�[31m", "�esrever", "f" * 10_000} <= set(part.names)
    again = unpack_part(pack_part(part))
    assert isinstance(again, StackPart)
    assert stacks_of(again) == stacks_of(part)


def test_too_deep_a_stack_is_refused() -> None:
    deep = b";".join([b"f"] * 1000) + b" 1\n"
    found, [part] = read_stacks(deep * 3 + b";".join([b"f"] * 2000) + b" 1\n")
    assert (found.n_rejected, sum(stacks_of(part).values())) == (1, 3)


def test_sums_beyond_64_bits_keep_their_size() -> None:
    _, [part] = read_stacks(b"a;b 9223372036854775807\n" * 4)
    assert stacks_of(part)["a;b"] == pytest.approx(4 * 9.223372036854775807e18)


@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_rejected(data: bytes) -> None:
    for text in (data, FOLDED + data, PERF + data, JSTACK + data, GDB + data):
        known = find_stack_format(text)
        if known is not None:
            found = known.read(text, "")
            assert found.n_lines == text.count(b"\n") + (not text.endswith(b"\n"))
            for part in found.parts:
                pack_part(part)


FRAMES = st.lists(st.sampled_from(["a", "b", "c(int)", "d`e+0x1"]), min_size=2, max_size=6)


@given(st.lists(st.tuples(FRAMES, st.integers(1, 10**15)), min_size=1, max_size=30))
def test_every_weight_is_in_its_stack(stacks: list[tuple[list[str], int]]) -> None:
    wanted: Counter[str] = Counter()
    for frames, weight in stacks:
        wanted[";".join(frames)] += weight
    text = "".join(f"{';'.join(frames)} {weight}\n" for frames, weight in stacks)
    _, [part] = read_stacks(text.encode())
    assert stacks_of(part) == wanted
