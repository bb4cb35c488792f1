"""Texts become parts: what the source documents print, read and ranked as they were meant."""

from pathlib import Path

import pytest

from normstat.artefacts.large_tables import split_tables
from normstat.artefacts.packed_reading import INLINE_BYTES, ReadingRequest, pack_reading, read_packed
from normstat.artefacts.part_codec import unpack_part
from normstat.artefacts.parts import Part, StackPart, TablePart
from normstat.artefacts.reading import read_artefact
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


@pytest.mark.slow
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
