"""Blocks of rollups: what goes in comes out, alone or with others, and merging in any pieces is the same as at once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.codecs.rollup_codec import (
    EMPTY,
    HEAD_BYTES,
    MIXED,
    Buckets,
    gather,
    leave_out,
    merge,
    pack,
    read_head,
    read_left,
    sum_group,
    to_stored,
    unpack,
    unpack_group,
)

MINUTE_US = 60_000_000
FIRST = 29_000_000

numbers = st.one_of(
    st.integers(-(2**40), 2**40).map(float),
    st.decimals(-1000, 1000, places=2).map(float),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)
samples = st.lists(
    st.tuples(st.sampled_from([3, 7, 8, 2**31 - 1]), st.integers(0, 1439), st.integers(0, MINUTE_US - 1), numbers),
    min_size=1,
    max_size=200,
)
Rows = list[tuple[int, int, int, float]]


def buckets_of(rows: Rows) -> Buckets:
    instance, minute, rest, values = (np.array(column) for column in zip(*sorted(rows, key=lambda row: row[1:3]), strict=True))
    return gather(instance, minute + FIRST, values, (minute + FIRST) * MINUTE_US + rest)


def assert_same(left: Buckets, right: Buckets, *, with_totals: bool = True) -> None:
    for name in Buckets.__slots__:
        if name != "total" or with_totals:
            assert np.array_equal(getattr(left, name), getattr(right, name)), name
    assert np.allclose(left.total, right.total, rtol=1e-9, atol=1e-6 * np.abs(left.high).max(initial=1))


@given(samples)
def test_a_bucket_is_what_its_samples_are(rows: Rows) -> None:
    made = buckets_of(rows)
    keys = sorted({(row[0], row[1] + FIRST) for row in rows})
    assert list(zip(made.instance.tolist(), made.bucket.tolist(), strict=True)) == keys
    for place, (instance, minute) in enumerate(keys):
        own = sorted((row[2], row[3]) for row in rows if (row[0], row[1] + FIRST) == (instance, minute))
        values = [value for _, value in own]
        assert (made.n[place], made.low[place], made.high[place]) == (len(own), min(values), max(values))
        assert (made.first[place], made.last[place]) == (values[0], values[-1])


@given(samples, st.integers(0, 4))
def test_what_is_packed_comes_back_exactly(rows: Rows, decimals: int) -> None:
    made = buckets_of(rows)
    body = pack(made, first_bucket=FIRST, decimals=decimals)
    assert_same(unpack(body, first_bucket=FIRST), made, with_totals=False)
    # Packed again it is the same to the last bit.
    again = unpack(body, first_bucket=FIRST)
    assert_same(unpack(pack(again, first_bucket=FIRST, decimals=decimals), first_bucket=FIRST), again)


@given(samples, st.lists(st.integers(0, 1439), max_size=4), st.sampled_from([1, 60]))
def test_pieces_merge_to_the_whole(rows: Rows, cuts: list[int], factor: int) -> None:
    edges = [0, *sorted(cuts), 1440]
    pieces = [
        buckets_of(part) for start, end in itertools.pairwise(edges) if (part := [row for row in rows if start <= row[1] < end])
    ]
    assert_same(merge(pieces, factor=factor), merge([buckets_of(rows)], factor=factor), with_totals=False)


@pytest.mark.parametrize(("n_instances", "n_minutes"), [(1, 1), (1, 1440), (64, 1440), (3000, 3), (100_000, 1)])
def test_some_instances_are_read_without_the_others(n_instances: int, n_minutes: int) -> None:
    instance = np.repeat(np.arange(n_instances) * 3, n_minutes)
    minute = np.tile(np.arange(n_minutes), n_instances) + FIRST
    made = gather(instance, minute, np.round(np.random.default_rng(1).normal(size=len(minute)), 2), minute * MINUTE_US)
    body = pack(made, first_bucket=FIRST, decimals=2)
    head = read_head(body[:HEAD_BYTES])
    assert head.n_samples == len(minute)
    assert head.offsets[-1] == len(body)
    wanted = np.array([0, 3, 4, 3 * n_instances + 7])
    found = unpack(body, first_bucket=FIRST, instance_ids=wanted)
    assert len(found) <= max(2 * 1440, n_minutes, len(made) // 8)
    known = np.isin(found.instance, wanted)
    assert_same(found.take(known), made.take(np.isin(made.instance, wanted)))
    assert head.most_samples(head.find(wanted)) == n_minutes
    assert len(head.find(np.array([3 * n_instances]))) == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from([3, 7]), st.integers(0, 30), st.one_of(st.decimals(-1000, 1000, places=2).map(float), st.floats(-9, 9))
        ),
        min_size=1,
        max_size=80,
    ),
    st.integers(0, 2),
)
def test_buckets_of_few_samples_come_back_as_they_were(rows: list[tuple[int, int, float]], decimals: int) -> None:
    """One to three samples a bucket are stored themselves, and all else is made of them."""
    seen: dict[tuple[int, int], int] = {}
    few = []
    for instance, minute, value in rows:
        seen[instance, minute] = seen.get((instance, minute), 0) + 1
        if seen[instance, minute] <= 3:
            few.append((instance, minute, seen[instance, minute] * 1000, value))
    made = buckets_of(few)
    body = pack(made, first_bucket=FIRST, decimals=decimals)
    assert_same(unpack(body, first_bucket=FIRST), made, with_totals=False)
    head = read_head(body)
    ids, sums, n = sum_group(head, 0, body[head.offsets[0] :], FIRST, lambda bucket: bucket >= 0)
    assert n.tolist() == [int(made.n[made.instance == own].sum()) for own in ids.tolist()]
    whole = unpack(body, first_bucket=FIRST)
    for own, total in zip(ids.tolist(), sums.tolist(), strict=True):
        assert total == pytest.approx(float(whole.total[whole.instance == own].sum()), rel=1e-9, abs=1e-6)


def test_few_samples_take_less_than_their_summary() -> None:
    rng = np.random.default_rng(1)
    minute = np.repeat(np.arange(1440), 2) + FIRST
    values = np.round(rng.gamma(2, 5, 2880), 2)
    body = pack(gather(np.full(2880, 7), minute, values, np.arange(2880)), first_bucket=FIRST, decimals=2)
    assert len(body) < 1.6 * 2880


def test_short_and_long_lives_in_one_group_come_back_as_they_were() -> None:
    rng = np.random.default_rng(1)
    n = np.where(np.arange(900) % 10 == 0, 60, 1 + np.arange(900) % 3)
    instance, minute = np.repeat(np.arange(900) * 7, n), np.repeat(FIRST + np.arange(900) // 30, n)
    values = np.round(rng.gamma(2, 5, len(instance)), 2)
    made = gather(instance, minute, values, minute * MINUTE_US + np.arange(len(instance)))
    body = pack(made, first_bucket=FIRST, decimals=2)
    head = read_head(body)
    assert body[head.offsets[0]] == MIXED
    whole = unpack(body, first_bucket=FIRST)
    assert_same(whole, made, with_totals=False)
    ids, sums, numbers = sum_group(head, 0, body[head.offsets[0] :], FIRST, lambda bucket: bucket > FIRST + 9)
    own = whole.take(whole.bucket > FIRST + 9)
    assert (ids.tolist(), numbers.tolist()) == (own.instance.tolist(), own.n.tolist())
    assert np.allclose(sums, own.total)


@pytest.mark.parametrize(("decimals", "n_left"), [(2, 2), (0, 1)])
def test_what_is_left_out_follows_from_the_samples(decimals: int, n_left: int) -> None:
    # Short lives with up to nine samples a minute, then two that stay, then slow reports. With decimals that they do not have,
    # sums of three samples depend on the order of additions: these groups are kept.
    rng = np.random.default_rng(1)
    lives = [(FIRST + np.arange(700) // 30, 1 + np.arange(700) % 9)]
    lives += [(FIRST + np.arange(1440), np.full(1440, 60))] * 2 + [(FIRST + np.arange(1440), np.full(1440, 2))]
    ids = [np.arange(700) * 3, np.full(1440, 2100), np.full(1440, 2101), np.full(1440, 2102)]
    n = np.concatenate([own for _, own in lives])
    instance, minute = np.repeat(np.concatenate(ids), n), np.repeat(np.concatenate([own for own, _ in lives]), n)
    values = np.round(rng.gamma(2, 5, len(instance)), 2)
    values[::50] = -0.0
    made = gather(instance, minute, values, minute * MINUTE_US + np.arange(len(instance)))
    body = pack(made, first_bucket=FIRST, decimals=decimals)
    small = leave_out(body)
    assert small is not None
    assert leave_out(small) is None
    head, small_head = read_head(body), read_head(small)
    assert [small_head.groups[name].tolist() for name in ("last", "n_rows", "most", "n_samples")] == [
        head.groups[name].tolist() for name in ("last", "n_rows", "most", "n_samples")
    ]
    found = []
    for number, (start, end) in enumerate(itertools.pairwise(small_head.offsets.tolist())):
        stored = unpack_group(head, number, body[head.offsets[number] : head.offsets[number + 1]], FIRST)
        left = read_left(small_head, number, small[start:end])
        found.append(left is not None)
        if left is None:
            assert_same(unpack_group(small_head, number, small[start:end], FIRST), stored)
            continue
        again = to_stored(made.take(np.isin(made.instance, left.ids)), left.decimals)
        for name in Buckets.__slots__:
            assert getattr(again, name).tobytes() == getattr(stored, name).tobytes(), name
    assert sum(found) == n_left
    assert len(small) < len(body)


def test_a_body_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="rollup rebuild"):
        read_head(b"\x09" + bytes(100))


def test_nothing_merges_to_nothing() -> None:
    assert merge([]) is EMPTY
