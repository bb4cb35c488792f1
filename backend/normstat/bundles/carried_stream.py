"""A stream as a bundle carries it, and its name where it arrives."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from normstat.bundles.bundle_writer import to_instant_or_none
from normstat.db.schema.models import BUNDLE_KEY, IMPORT_KEY
from normstat.errors import BadRequest
from normstat.stats.records import Timing
from normstat.window import LATEST_US, to_us

KEY: Final = re.compile(r"(?:import-)?bundle-([0-9a-f]{16})-([0-9a-f]{1,16})")
SPEC_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class CarriedStream:
    """A stream as a bundle carries it: where it was, how it was read, and which of its bytes are in the member, in `runs`."""

    origin: str
    key: str
    spec: str
    spec_version: int
    command: str
    timing: Timing
    is_import: bool
    head: int
    begin: int
    end: int
    is_final: bool
    runs: Sequence[tuple[int, int]]

    @property
    def key_here(self) -> str:
        """The key of the stream where the bundle is opened."""
        return f"{IMPORT_KEY if self.is_import else ''}{BUNDLE_KEY}{self.origin}-{self.begin:x}"


def origin_of(server_id: str, host: str, spec: str, key: str) -> str:
    """Return the identity of a stream, also of one that itself came in a bundle."""
    known = KEY.fullmatch(key)
    return known[1] if known is not None else hashlib.sha256("\n".join((server_id, host, spec, key)).encode()).hexdigest()[:16]


def to_carried(entry: dict[str, Any]) -> CarriedStream:
    """Return the stream that an entry of the index describes.

    Raises: BadRequest
    """
    try:
        timing = Timing(
            zone=None if entry["zone"] is None else str(entry["zone"]),
            date=None if entry["first_day"] is None else date.fromisoformat(entry["first_day"]),
            start_us=None if (start := to_instant_or_none(entry["start"])) is None else to_us(start),
            interval_us=None if entry["interval_s"] is None else round(float(entry["interval_s"]) * 1_000_000),
            is_first_real=bool(entry["is_first_real"]),
            is_live=not entry["is_import"],
            shift_us=round(float(entry["shift_s"]) * 1_000_000),
        )
        found = CarriedStream(
            origin=str(entry["origin"]),
            key=str(entry["key"]),
            spec=str(entry["spec"]),
            spec_version=int(entry["spec_version"]),
            command=str(entry["command"]),
            timing=timing,
            is_import=bool(entry["is_import"]),
            head=int(entry["head"]),
            begin=int(entry["begin"]),
            end=int(entry["end"]),
            is_final=bool(entry["is_final"]),
            runs=[(int(start), int(end)) for start, end in entry["runs"]],
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BadRequest("The index of streams in the bundle is damaged; nothing more was loaded") from None
    edges = [edge for run in found.runs for edge in run]
    is_sound = edges == sorted(edges) and all(0 <= edge < 1 << 50 for edge in [*edges, found.begin, found.end, found.head])
    is_sound = is_sound and abs(found.timing.shift_us) < LATEST_US
    if not is_sound or KEY.fullmatch(found.key_here) is None or SPEC_NAME.fullmatch(found.spec) is None:
        raise BadRequest("The index of streams in the bundle is invalid; nothing more was loaded")
    return found
