"""Sizes with a suffix where the column's name promises kilobytes: sysstat's --human, and free -h.

    Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
    vda              12.34         1.2M        10.5k       3.4G       1.1G

The suffix replaces the unit in the column's name, so such a number is another field than the plain one: its unit is bytes.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from normstat.stats.spec import Field, Storage

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
