"""Text in columns of words: every byte comes back, whatever it is; what does not suit is refused, damage is found."""

import random
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from bench.recorded import recording
from normstat.codecs.number_planes import PlaneReader, PlaneWriter
from normstat.codecs.word_columns import pack_words, unpack_words
from normstat.errors import DamagedChunk
from tests.generated import vmstat_text, vmstat_times

GOLDEN = Path(__file__).parents[1] / "golden"
WORDS = st.one_of(
    st.sampled_from(
        ["0", "-0", "00", "0.0", "-0.0", "-1", "1.", ".5", "1.5.2", "-", "--1", "1-2", "1e5", "9" * 18, "9" * 19, "-" + "9" * 18]
    ),
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-1000, 1000, places=2).map(str),
    st.times().map(lambda time: time.strftime("%H:%M:%S")),
    st.text("ab:%\t\r./é", min_size=1, max_size=8),
)
LINES = st.lists(st.tuples(st.lists(st.tuples(st.integers(0, 12), WORDS), max_size=6), st.integers(0, 3)), min_size=1, max_size=30)


def to_text(lines: list[tuple[list[tuple[int, str]], int]]) -> bytes:
    return "".join(
        "".join(" " * (gap + (place > 0)) + word for place, (gap, word) in enumerate(words)) + " " * after + "\n"
        for words, after in lines
    ).encode()


@given(LINES)
def test_every_byte_of_lines_of_words_comes_back(lines: list[tuple[list[tuple[int, str]], int]]) -> None:
    text = to_text(lines)
    packed = pack_words(text)
    assert packed is None or unpack_words(packed, len(text)) == text


@given(st.binary(max_size=400))
@example(b"")
@example(b"\n")
@example(b"1\n\0\n")
def test_any_bytes_come_back_or_are_refused(data: bytes) -> None:
    packed = pack_words(data)
    assert packed is None or unpack_words(packed, len(data)) == data


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50))
@example([-(2**63), 2**63 - 1, 0])
@example([5])
def test_any_numbers_come_back(numbers: list[int]) -> None:
    writer = PlaneWriter()
    writer.number(numbers[0])
    writer.ints(np.array(numbers, np.int64))
    writer.text(b"end")
    reader = PlaneReader(writer.finish())
    assert reader.number() == numbers[0]
    assert reader.ints(len(numbers)).tolist() == numbers
    assert reader.text() == b"end"


@pytest.mark.parametrize("tool", ["vmstat", "mpstat", "iostat", "pidstat"])
def test_what_tools_print_takes_a_tenth_less_than_zstd_at_its_best_makes_of_it(tool: str) -> None:
    text = recording(tool)
    text = text[: text.index(b"\n", 250_000 if len(text) > 250_000 else len(text) - 1000) + 1]
    packed = pack_words(text)
    assert packed is not None
    assert len(packed) < 0.9 * len(zstandard.compress(text, 19))


def test_captures_of_a_third_of_all_tools_come_back() -> None:
    n_packed = n_all = 0
    for path in sorted(GOLDEN.rglob("*.txt"))[::3]:
        text = path.read_bytes()
        packed = pack_words(text)
        n_all += 1
        n_packed += packed is not None
        assert packed is None or unpack_words(packed, len(text)) == text
    assert n_all > 100
    assert n_packed > n_all * 2 / 3


@pytest.mark.parametrize("text", [b"", b"no end", b"1 2\n3", b"\n\n", b"a\0b\n"])
def test_what_is_no_text_is_refused(text: bytes) -> None:
    assert pack_words(text) is None


def test_long_words_and_lines_come_back() -> None:
    chance = random.Random(3)
    paths = ["/".join(chance.choice(["usr", "lib", "x" * 70]) for _ in range(chance.randrange(1, 40))) for _ in range(40)]
    for lines in (
        [f"{number} {chance.choice(paths)}  {number % 7}" for number in range(500)],
        ["x" * length for length in (1, 63, 64, 65, 128, 129, 100_000)],
        ["1 " * 5000, "a b", "1 " * 5000],
    ):
        text = ("\n".join(lines) + "\n").encode()
        packed = pack_words(text)
        assert packed is not None
        assert unpack_words(packed, len(text)) == text


def test_rare_lines_among_many_are_stored_as_they_are() -> None:
    chance = random.Random(3)
    text = vmstat_text(vmstat_times(2000))
    lines = text.split(b"\n")
    for _ in range(300):
        line = " ".join(chance.choice(["1", "a", ""]) for _ in range(20))
        lines.insert(chance.randrange(len(lines)), line.encode())
    mixed = b"\n".join(lines)
    packed, alone = pack_words(mixed), pack_words(text)
    assert packed is not None
    assert alone is not None
    assert unpack_words(packed, len(mixed)) == mixed
    # They cost about what they are, and take nothing from the others.
    assert len(packed) < len(alone) + 300 * 10


def test_damage_is_found() -> None:
    text = vmstat_text(vmstat_times(50))
    packed = pack_words(text)
    assert packed is not None
    for damaged in (b"", packed[:-5], packed[:40] + bytes([packed[40] ^ 1]) + packed[41:]):
        with pytest.raises(DamagedChunk, match="damaged"):
            unpack_words(damaged, len(text))
    with pytest.raises(DamagedChunk):
        unpack_words(packed, len(text) + 1)
