"""Parse and format numbers as the tools print them: the one definition that readers, store and exports share.

The canonical form of a field is what `printf("%.*f", decimals, value)` prints, without a minus before zero. A number in that form,
and small enough for its column type to distinguish it from its neighbours, needs no text: its value is formatted again. Every
other number that can be read (`007`, `-0`, `+1`, `0,14`, three decimals in a field of two) keeps its text.

Where a column's name promises kilobytes, sysstat's --human and free -h print sizes with a suffix (1.2M). It replaces the unit in
the column's name, so such a number is another field than the plain one: its unit is bytes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.stats.records import ValueArray
from normstat.stats.spec import Field, Storage

# |value| * 10**decimals below these bounds: neighbouring decimals stay different numbers (24 and 53 bits of mantissa, with one
# binary digit to spare).
EXACT_LIMIT: Final = {Storage.DEC4: 2**31, Storage.FLOAT4: 2**22, Storage.FLOAT8: 2**52}
# Numbers too large for a dec4 are found where the table is known (samples/stat_tables.py): an older one may have another type.
FLOAT_LARGEST: Final = {Storage.DEC4: 1.7e308, Storage.FLOAT4: 3.4e38, Storage.FLOAT8: 1.7e308}
INT8_MIN: Final = -(2**63)
INT8_MAX: Final = 2**63 - 1
# Counters of kernels have 64 bits without a sign; a word of more is no number of any tool.
UINT8_MAX: Final = 2**64 - 1
CANONICAL_INTEGER: Final = re.compile(r"-?[1-9][0-9]{0,19}|0")
# In the order of their powers.
SUFFIXES: Final = "KMGTPE"
# 16:15:40 and, of Solaris 8, 0:00.03; the minutes of 12:34.56 may be any number.
DURATIONS: Final = {
    "h:m:s": re.compile(r"(?P<hours>[0-9]{1,9}):(?P<minutes>[0-5][0-9])[:.](?P<seconds>[0-5][0-9])"),
    "m:s": re.compile(r"(?P<minutes>[0-9]{1,9}):(?P<seconds>[0-5][0-9](?:\.[0-9]{1,6})?)"),
}
WITH_UNIT: Final = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,9})?)(ns|us|µs|ms|s|)")
PER_SECOND: Final = {"": 1e9, "ns": 1e9, "us": 1e6, "µs": 1e6, "ms": 1e3, "s": 1.0}
# printf's result of a division by zero: no value, and no reason to reject the rest of the row.
NOT_A_NUMBER: Final = frozenset(
    f"{sign}{word}{unit}" for sign in ("", "-", "+") for word in ("nan", "NaN", "NAN", "inf", "Inf", "INF") for unit in ("", "%")
)
NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)%?")


def read_number(text: str, field: Field) -> tuple[int | float, bool] | None:
    """Return the number that a word is, and whether the word is the field's canonical form.

    Missing: None when the word is no number, or one that the field's type cannot hold.
    """
    if field.clock and (":" in text or field.clock == "unit"):
        return _read_duration(text, field)
    if field.storage.is_whole:
        if text.endswith("%") and field.unit == "%":
            return _not_canonical(_read_integer(text[:-1]))
        return _read_integer(text)
    if field.scale and text[-1:].isalpha():
        return _read_suffixed(text, field)
    if NUMBER.fullmatch(text) is None or (text.endswith("%") and field.unit != "%"):
        return None
    value = float(text.rstrip("%").replace(",", "."))
    if abs(value) > FLOAT_LARGEST[field.storage]:
        return None
    if format(value, f".{field.decimals}f") != text or (value == 0 and text[0] == "-"):
        return value, False
    return value, int(text.replace(".", "").lstrip("-")) < EXACT_LIMIT[field.storage]


def _read_suffixed(text: str, field: Field) -> tuple[float, bool] | None:
    # 1.5K, and the bytes that some add: 1.5Ki, 1.5KiB, 512B.
    word = text.removesuffix("B") if text[-2:-1].isalnum() else text
    word = word.removesuffix("i")
    power = SUFFIXES.find(word[-1:].upper()) + 1
    number = word[:-1] if power else word
    if not (power or text.endswith("B")) or NUMBER.fullmatch(number) is None or number.endswith("%"):
        return None
    value = float(number.replace(",", ".")) * float(field.scale) ** power
    return (value, False) if abs(value) <= FLOAT_LARGEST[field.storage] else None


def _read_duration(text: str, field: Field) -> tuple[int | float, bool] | None:
    if field.clock == "unit":
        with_unit = WITH_UNIT.fullmatch(text)
        return None if with_unit is None else (float(with_unit[1].replace(",", ".")) / PER_SECOND[with_unit[2]], False)
    found = DURATIONS[field.clock].fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict(default="0")
    whole = int(parts.get("hours", "0")) * 3600 + int(parts["minutes"]) * 60
    seconds = parts["seconds"]
    if field.storage.is_whole:
        return (whole + int(seconds), False) if seconds.isdigit() else None
    return whole + float(seconds), False


def _not_canonical(number: tuple[int, bool] | None) -> tuple[int, bool] | None:
    return None if number is None else (number[0], False)


def _read_integer(text: str) -> tuple[int, bool] | None:
    if CANONICAL_INTEGER.fullmatch(text) is not None:
        value = int(text)
        return (value, True) if INT8_MIN <= value <= UINT8_MAX else None
    if len(text) > 40 or re.fullmatch(r"[-+]?[0-9]+", text) is None:
        return None
    value = int(text)
    return (value, False) if INT8_MIN <= value <= UINT8_MAX else None


def format_values(field: Field, values: ValueArray) -> list[str]:
    """Return the canonical form of each value.

    Shape: values (n,) int64 or floating point -> n texts. Missing: NaN gives "" (no number is ever printed for a missing one).
    """
    if field.storage.is_whole:
        return [str(value) for value in values.tolist()]
    numbers = values.tolist()
    texts = (f"%.{field.decimals}f\n" * len(numbers) % tuple(numbers)).split("\n")[:-1]
    if len(numbers) and not math.isfinite(float(np.sum(values))):
        return ["" if math.isnan(number) else text for number, text in zip(numbers, texts, strict=True)]
    return texts


SIZED: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?:[kKMGTPE]i?B?|B)", re.ASCII)
# The units that suffixes take the place of. Sectors and blocks as well: sysstat turns them into kilobytes first.
SIZE_UNIT: Final = re.compile(r"(?:B|kB|KB|KiB|MB|MiB|GB|GiB|sectors|blocks)(/s)?")
KEY_UNIT: Final = re.compile(r"(?:blk|kb|mb|gb|kib|mib|sec)(?=_|$)")
BASE: Final = 1024


def suffixed_places(fields: Sequence[Field], words: Sequence[str]) -> tuple[int, ...]:
    """Return the places of the words that are sizes with a suffix in a column of sizes."""
    return tuple(
        place
        for place, (field, word) in enumerate(zip(fields, words, strict=True))
        if not field.scale and word[-1:].isalpha() and SIZED.fullmatch(word) and SIZE_UNIT.fullmatch(field.unit)
    )


def suffixed_field(field: Field) -> Field:
    """Return the field of a column whose numbers have a suffix.

    Units: bytes, or bytes a second.
    """
    unit = "B/s" if field.unit.endswith("/s") else "B"
    key = KEY_UNIT.sub("bytes", field.key, count=1)
    if key == field.key:
        key = f"{key}_bytes"
    return replace(field, key=key, unit=unit, decimals=1, storage=Storage.FLOAT8, scale=BASE, aliases=())
