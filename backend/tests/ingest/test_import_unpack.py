"""Compressed files: bounded memory whatever they claim, whole content or a word why not."""

import bz2
import contextlib
import functools
import gzip
import io
import lzma
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Protocol

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from normstat.ingest.imports import unpacking
from normstat.ingest.imports.unpacking import Budget, Peekable, Stopped, TooMuch, Unpacked, Unreadable, find_packing, read_full

TEXT = b"".join(b"%d %d %d\n" % (number, number * 7, number % 13) for number in range(20_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
MUCH = 1 << 40


def unpack(packed: bytes, *, budget: Budget | None = None, size: int = 100_000) -> bytes:
    packing = find_packing(packed[:16])
    assert packing is not None
    source = Unpacked(io.BytesIO(packed), packing, budget or Budget(MUCH, 10))
    parts = []
    while part := source.read(size):
        assert len(part) <= size
        parts.append(part)
    return b"".join(parts)


def skip_to_end(source: Unpacked) -> None:
    while source.read(1 << 20):
        pass


def read_to_end(source: Unpacked, found: bytearray) -> None:
    """What comes before an error stays in `found`."""
    while part := source.read(50_000):
        found += part


class Compressor(Protocol):
    """What the four libraries have in common."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def a_hundred_megabytes_of_zeros(name: str) -> bytes:
    """Return a bomb: small, and 110 MB for whoever unpacks all of it."""
    piece = bytes(1 << 20)
    compressors: dict[str, Compressor] = {
        "gzip": zlib.compressobj(9, zlib.DEFLATED, 31),
        "bzip2": bz2.BZ2Compressor(),
        "xz": lzma.LZMACompressor(preset=0),
        "zstd": zstandard.ZstdCompressor().compressobj(),
    }
    compressor = compressors[name]
    return b"".join(compressor.compress(piece) for _ in range(110)) + compressor.flush()


@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_content_comes_out_as_it_went_in(name: str, size: int) -> None:
    packed = PACKERS[name](TEXT)
    assert unpack(packed, size=size) == TEXT
    # Several members are one file, and what follows them is not of it.
    assert unpack(packed + packed, size=size) == TEXT + TEXT
    assert unpack(packed + b"trailing words", size=size) == TEXT
    assert unpack(PACKERS[name](b""), size=size) == b""


@pytest.mark.parametrize("name", PACKERS)
def test_a_file_that_is_cut_off_gives_what_is_there_and_says_so(name: str) -> None:
    packed = PACKERS[name](TEXT)
    packing = find_packing(packed)
    assert packing is not None
    source = Unpacked(io.BytesIO(packed[: len(packed) * 2 // 3]), packing, Budget(MUCH, 10))
    found = bytearray()
    with pytest.raises(Unreadable, match="cut off"):
        read_to_end(source, found)
    assert TEXT.startswith(found)


@functools.cache
def packed_once(name: str) -> bytes:
    return PACKERS[name](TEXT[:20_000])


@pytest.mark.parametrize("name", PACKERS)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_damage_never_does_more_than_end_the_file(name: str, place: int, change: int) -> None:
    packed = bytearray(packed_once(name))
    packed[20 + place % (len(packed) - 20)] ^= change
    with contextlib.suppress(Unreadable, TooMuch):
        assert len(unpack(bytes(packed))) < 1 << 27


@pytest.mark.parametrize("name", PACKERS)
def test_a_bomb_is_left_alone_at_little_cost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "FREE_BYTES", 4 << 20)
    bomb = a_hundred_megabytes_of_zeros(name)
    assert len(bomb) < 500_000
    budget = Budget(MUCH, 10)
    packing = find_packing(bomb)
    assert packing is not None
    source = Unpacked(io.BytesIO(bomb), packing, budget)
    tracemalloc.start()
    try:
        with pytest.raises(TooMuch, match="times its size"):
            skip_to_end(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 << 20
    assert budget.n_bytes < 80 << 20


def test_the_budget_is_of_all_files_together() -> None:
    budget = Budget(len(TEXT) + 10, 10)
    assert unpack(gzip.compress(TEXT), budget=budget) == TEXT
    assert not budget.is_spent
    with pytest.raises(TooMuch, match="the most that one import reads"):
        unpack(gzip.compress(TEXT), budget=budget)
    assert budget.is_spent


def test_files_are_counted_too() -> None:
    budget = Budget(MUCH, 2)
    budget.count_member()
    budget.count_member()
    with pytest.raises(TooMuch, match="more than 2 files"):
        budget.count_member()


def test_whoever_stops_an_import_is_heard_at_the_next_byte() -> None:
    budget = Budget(MUCH, 10)
    budget.is_stopped = True
    with pytest.raises(Stopped):
        unpack(gzip.compress(TEXT), budget=budget)


def test_what_only_looks_packed_is_not() -> None:
    assert find_packing(b"BZh9 is how this text begins") is None
    assert find_packing(b"procs ---memory---") is None
    assert find_packing(b"") is None


@given(st.lists(st.binary(max_size=50), max_size=20), st.lists(st.tuples(st.booleans(), st.integers(1, 60)), max_size=40))
def test_peeking_changes_nothing(pieces: list[bytes], asked: list[tuple[bool, int]]) -> None:
    class Source:
        def __init__(self) -> None:
            self.pieces = [piece for piece in pieces if piece]

        def read(self, size: int, /) -> bytes:
            if not self.pieces:
                return b""
            piece, self.pieces[0] = self.pieces[0][:size], self.pieces[0][size:]
            if not self.pieces[0]:
                self.pieces.pop(0)
            return piece

    whole = b"".join(pieces)
    source = Peekable(Source())
    at = 0
    for peeks, size in asked:
        if peeks:
            assert source.peek(size) == whole[at : at + size]
        else:
            at += len(source.read(size))
    assert source.n_read == at
    assert read_full(source, len(whole)) == whole[at:]
