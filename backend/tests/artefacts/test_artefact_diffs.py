"""Two artefacts compared: the numbers of the sources, by key and by bucket; what cannot be compared says why."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.diff.artefact_diff import DiffRequest, DiffSide, PartDiff, diff_artefacts
from normstat.artefacts.diff.bucket_alignment import align, count_buckets
from normstat.artefacts.diff.table_diff import Normalisation, TableDiffRequest
from normstat.artefacts.diff_text import render_diff
from normstat.artefacts.parts import Bucket
from normstat.artefacts.reading import ArtefactReading, read_artefact
from normstat.errors import BadRequest, NotFound
from tests.golden_captures import GOLDEN

HEAD = "Mutex block\n\nCount     nsec Lock                         Caller\n" + "-" * 79 + "\n"
# Seven lines of the source, and its total of 10 seconds: the rest is one line here.
BEFORE = (
    HEAD
    + """   78    69427 libc.so.1`libc_malloc_lock   libzip.so`Java_java_util_zip_Deflater_deflateBytes+0x29c
   44    99867 libc.so.1`libc_malloc_lock   libzip.so`Java_java_util_zip_Deflater_deflateBytes+0x36c
   21    35373 libc.so.1`libc_malloc_lock   libzip.so`Java_java_util_zip_Deflater_deflateBytes+0x29c
   11    58851 libc.so.1`libc_malloc_lock   libzip.so`Java_java_util_zip_Deflater_deflateBytes+0x2dc
    1  3926932 libc.so.1`libc_malloc_lock   libnsl.so.1`netconfig_free+0x10
"""
)
AFTER = (
    HEAD
    + """    5    37929 0x3b400                      libumem.so.1`umem_cache_free+0x6c
    2    76420 0x3b400                      libumem.so.1`umem_cache_alloc+0x50
   12     5828 0x3b400                      libumem.so.1`umem_cache_free+0x6c
    2    31008 libumem.so.1`vmem0+0x4a8     libumem.so.1`vmem_alloc+0xf0
    8     6141 0x3b400                      libumem.so.1`umem_cache_alloc+0x50
    1    40411 libumem.so.1`vmem0+0x4a8     libumem.so.1`vmem_xalloc+0x140
    1     5922 0x37080                      libumem.so.1`umem_cache_alloc+0x50
"""
)
PROGRAM = "plockstat -A -e 10 -p 18808"


def read(text: str, command: str = "") -> ArtefactReading:
    return read_artefact(text.encode(), command=command)


def diff_readings(
    before: ArtefactReading, after: ArtefactReading, commands: tuple[str, str], request: DiffRequest | None = None
) -> PartDiff:
    first, second = (
        DiffSide(reading.tool, command, reading.duration_s, reading.effect)
        for reading, command in zip((before, after), commands, strict=True)
    )
    return diff_artefacts(before.parts, after.parts, (first, second), request or DiffRequest())


def golden(name: str) -> str:
    return (GOLDEN / "recorded" / name).read_text()


def diff(before: str, after: str, command: str = "", **asked: Any) -> PartDiff:
    return diff_readings(read(before, command), read(after, command), (command, command), DiffRequest(**asked))


def test_the_allocator_of_the_source_leaves_3_768_percent_of_the_lock_time() -> None:
    found = diff(BEFORE, AFTER, PROGRAM)
    table = found.table
    assert table is not None
    assert (table.before_printed_total, table.after_printed_total) == (15_126_580, 569_898)
    assert table.ratio == pytest.approx(569_898 / 15_126_580)
    assert "fell from 1.51 ms/s to 57 us/s: to 3.768 % of before" in found.headline
    assert (table.normalisation, found.normalisation) == (
        "per_second",
        "per second of what each tool watched (10 s before, 10 s after)",
    )
    raw = diff(BEFORE, AFTER, PROGRAM, table=TableDiffRequest(normalisation=Normalisation.RAW))
    assert "fell from 15.1 ms to 570 us: to 3.768 % of before" in raw.headline
    assert "3.768 %" in render_diff(raw)


def test_rows_are_grouped_by_lock_and_ranked_by_difference() -> None:
    table = diff(BEFORE, AFTER, table=TableDiffRequest(group=("lock",))).table
    assert table is not None
    assert [(row.key, row.state, row.difference) for row in table.rows] == [
        (["libc.so.1`libc_malloc_lock"], "disappeared", -15_126_580.0),
        (["0x3b400"], "appeared", 461_549.0),
        (["libumem.so.1`vmem0+0x4a8"], "appeared", 102_427.0),
        (["0x37080"], "appeared", 5_922.0),
    ]
    assert (table.n_appeared, table.n_disappeared) == (3, 1)
    assert sum(row.after_share or 0 for row in table.rows) == pytest.approx(1)
    # A mean of several rows is no sum of theirs.
    assert table.rows[1].after == [27, None, 461_549]


def test_totals_of_runs_of_different_length_are_compared_per_second() -> None:
    long = read(BEFORE, "plockstat -A -e 20 -p 1")
    short = read(BEFORE, "plockstat -A -e 10 -p 1")
    found = diff_readings(long, short, ("plockstat -A -e 20 -p 1", "plockstat -A -e 10 -p 1"))
    assert found.table is not None
    assert found.table.ratio == pytest.approx(2)
    assert "2 times as much" in found.headline
    unknown = diff_readings(long, read(BEFORE), ("plockstat -A -e 20 -p 1", ""))
    assert unknown.normalisation == "as printed: how long the tool watched is unknown after"
    with pytest.raises(BadRequest, match="that of after is unknown"):
        diff_readings(long, read(BEFORE), ("", ""), DiffRequest(table=TableDiffRequest(normalisation=Normalisation.PER_SECOND)))


def test_profiles_are_compared_by_their_printed_share() -> None:
    group_b, group_c = golden("opreport_tables/miracle-v3--idle.txt"), golden("opreport_tables/miracle-v3--locks.txt")
    found = diff(group_b, group_c)
    assert found.table is not None
    assert (found.table.column, found.table.unit) == ("share_pct", "%")
    by_key = {row.key[0]: row for row in found.table.rows}
    assert (by_key["default_idle"].before_value, by_key["default_idle"].after_value) == (24.37, 6.038)
    assert found.headline.startswith("Largest difference: .text.lock.ioctl is new in the list with 28.74 %.")
    shares = diff(group_b, group_c, table=TableDiffRequest(column="samples")).table
    assert shares is not None
    assert (shares.normalisation, shares.unit) == ("share", "%")


def test_a_run_that_took_47_times_as_long_says_so() -> None:
    before = "real\t0m9.632s\nuser\t0m9.000s\nsys\t0m0.500s\n"
    found = diff(before, "real\t7m32.730s\nuser\t0m16.597s\nsys\t7m17.231s\n")
    assert found.table is not None
    assert (found.table.column, found.table.normalisation) == ("real_s", "raw")
    assert "47 times as much" in found.headline


def test_a_distribution_says_its_shift_and_its_tail() -> None:
    before = "\n@usecs:\n[64, 128)           998 |@@@@|\n[128, 256)            1 |    |\n[1K, 2K)              1 |    |\n"
    after = "\n@usecs:\n[64, 128)           100 |@   |\n[512, 1K)           780 |@@@@|\n[1K, 2K)            120 |@   |\n"
    found = diff(before, after).histogram
    assert found is not None
    [distribution] = found.distributions
    assert distribution.unit == "us"
    assert distribution.sentence.startswith("the median moved from 64\N{EN DASH}128 us to 512 us")
    assert "are 512 us or more, before 0.1 %" in distribution.sentence
    assert "one decade higher" in distribution.sentence


def test_a_queue_near_its_limit_is_saturated() -> None:
    text = "\n@queue:\n[0, 128)            {} |@|\n[128, 256)          {} |@|\n[384, 512)          {} |@|\n"
    found = diff(text.format(90, 9, 1), text.format(1, 9, 90), limit=512.0).histogram
    assert found is not None
    assert "90 % are at the limit of 512, before 1 %: it is saturated" in found.distributions[0].sentence


def test_a_bucket_that_is_half_of_the_limit_does_not_count_as_being_at_it() -> None:
    text = "\n  queue length\n  value  ------------- Distribution ------------- count\n  256 |@ {}\n  512 |@ {}\n 1024 |  0\n"
    found = diff(text.format(100, 1), text.format(900, 60), limit=512.0).histogram
    assert found is not None
    assert "6.2 % are at the limit of 512, before 0.99 %" in found.distributions[0].sentence
    assert "saturated" not in found.distributions[0].sentence


def test_distributions_of_other_units_and_buckets_without_common_ends_are_not_forced() -> None:
    seconds = diff("\n@usecs:\n[1, 2)  5 |@|\n", "\n@kbytes:\n[1, 2)  5 |@|\n").histogram
    assert seconds is not None
    assert (seconds.distributions, "are in" in seconds.notes[0]) == ([], True)


def test_the_busy_waits_of_the_source_by_decade() -> None:
    text = golden("lkst/miracle-v3--distribution.txt")
    found = diff(text, text).histogram
    assert found is not None
    totals = {each.key: each.before_total for each in found.distributions}
    assert totals == {"0xc019f83e": 85, "0xc01977d1": 1028, "0xc018ad07": 4}
    assert {each.distance for each in found.distributions} == {0.0}


def test_parts_without_counterpart_and_texts_without_parts() -> None:
    nothing = diff("who knows\n", BEFORE)
    assert (nothing.pair, nothing.table) == (None, None)
    assert "found nothing to compare" in nothing.headline
    with pytest.raises(NotFound, match="no pair 7"):
        diff(BEFORE, AFTER, pair=7)
    with pytest.raises(BadRequest, match="no key"):
        diff(BEFORE, AFTER, table=TableDiffRequest(group=("colour",)))
    with pytest.raises(BadRequest, match="no column"):
        diff(BEFORE, AFTER, table=TableDiffRequest(column="colour"))


def test_names_from_a_text_do_not_move_the_cursor() -> None:
    hostile = BEFORE.replace("libzip.so`Java", "\x1b[2Jlibzip.so`<b>Java")
    assert "\x1b" not in render_diff(diff(hostile, AFTER))


edges = st.lists(st.integers(0, 40), min_size=2, max_size=8, unique=True).map(sorted)
distributions = edges.flatmap(
    lambda ends: st.tuples(st.just(ends), st.lists(st.integers(0, 100), min_size=len(ends) - 1, max_size=len(ends) - 1))
)


def counted(ends: list[int], counts: list[int]) -> Any:
    buckets = [Bucket(str(low), float(low), float(high)) for low, high in itertools.pairwise(ends)]
    return count_buckets(buckets, counts)


@given(distributions, distributions)
def test_common_buckets_hold_every_event_and_split_none(
    before: tuple[list[int], list[int]], after: tuple[list[int], list[int]]
) -> None:
    sides = counted(*before), counted(*after)
    aligned = align(*sides)
    for side, counts in zip(sides, (aligned.before, aligned.after), strict=True):
        assert sum(counts) == sum(side.counts)
        for edge in aligned.lows:
            # What is below a common end is the same number before and after the buckets were put together.
            own = sum(count for high, count in zip(side.highs, side.counts, strict=True) if high <= edge)
            assert own == sum(count for high, count in zip(aligned.highs, counts, strict=True) if high <= edge)


@given(distributions)
def test_a_distribution_does_not_differ_from_itself(own: tuple[list[int], list[int]]) -> None:
    side = counted(*own)
    aligned = align(side, side)
    assert (aligned.lows, aligned.highs, aligned.before) == (side.lows, side.highs, side.counts)
    assert not aligned.is_merged
    assert all(map(math.isfinite, aligned.highs))
