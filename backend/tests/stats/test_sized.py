"""Numbers with a suffix of size are another field than plain ones: which words are such, and what the field is."""

from dataclasses import replace

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.number_formats import read_number, suffixed_field, suffixed_places
from normstat.stats.spec import Field, Storage

PLAIN = next(field for field in require_spec("iostat_linux").stats[0].fields if not field.scale and not field.decimals)


def field_of(key: str = "read_kb", unit: str = "kB", scale: int = 0) -> Field:
    return replace(PLAIN, key=key, unit=unit, scale=scale, aliases=("old",))


@pytest.mark.parametrize("word", ["1k", "1.2M", "3,4G", "10.5k", "7B", "1KiB", "2Mi", "5T", "1P", "1E"])
def test_sizes(word: str) -> None:
    assert suffixed_places([field_of()], [word]) == (0,)


@pytest.mark.parametrize("word", ["", "1", "1.2", "k", ".5k", "1.k", "-1k", "1 k", "1kk", "1x", "1m", "1k%", "1.2.3k", "١k", "Mk"])
def test_no_sizes(word: str) -> None:
    assert suffixed_places([field_of()], [word]) == ()


@pytest.mark.parametrize("unit", ["B", "kB", "KiB", "MB", "kB/s", "sectors", "blocks/s"])
def test_columns_of_sizes(unit: str) -> None:
    assert suffixed_places([field_of(unit=unit)], ["1k"]) == (0,)


@pytest.mark.parametrize("unit", ["", "%", "ms", "1/s", "kB/req", "pages"])
def test_columns_of_other_things_keep_their_suffixes(unit: str) -> None:
    assert suffixed_places([field_of(unit=unit)], ["1k"]) == ()


def test_a_column_that_always_has_suffixes_is_none_of_these() -> None:
    assert suffixed_places([field_of(scale=1024)], ["1k"]) == ()


def test_places_are_those_in_the_row() -> None:
    fields = [field_of(), field_of(unit="%"), field_of(), field_of()]
    assert suffixed_places(fields, ["1", "2k", "3k", "4M"]) == (2, 3)
    with pytest.raises(ValueError, match="zip"):
        suffixed_places(fields, ["1"])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("read_kb", "read_bytes"),
        ("kb_read_per_s", "bytes_read_per_s"),
        ("blk_read", "bytes_read"),
        ("sec_per_s", "bytes_per_s"),
        ("mib", "bytes"),
        # Only the first unit of a key, and only a whole word of it.
        ("kb_per_mb", "bytes_per_mb"),
        ("kbmemfree", "kbmemfree_bytes"),
        ("free", "free_bytes"),
    ],
)
def test_the_key_says_bytes(key: str, expected: str) -> None:
    assert suffixed_field(field_of(key)).key == expected


@pytest.mark.parametrize(("unit", "expected"), [("kB", "B"), ("kB/s", "B/s"), ("sectors/s", "B/s"), ("blocks", "B")])
def test_the_unit_is_bytes(unit: str, expected: str) -> None:
    assert suffixed_field(field_of(unit=unit)).unit == expected


def test_the_field_reads_what_was_printed_and_keeps_what_else_is_known() -> None:
    plain = field_of()
    sized = suffixed_field(plain)
    numbers = {word: read_number(word, sized) for word in ("1.5k", "2M", "12B")}
    assert {word: number[0] for word, number in numbers.items() if number is not None} == {"1.5k": 1536, "2M": 2 << 20, "12B": 12}
    assert (sized.storage, sized.aliases) == (Storage.FLOAT8, ())
    assert (sized.column, sized.help, sized.kind, sized.worse) == (plain.column, plain.help, plain.kind, plain.worse)
