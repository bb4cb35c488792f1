"""Patterns: incidents of the host of which a person named the cause, with their signatures."""

from collections.abc import AsyncIterator
from typing import Any, Final

from normstat.bundles.bundle_format import BundleSection
from normstat.bundles.bundle_sections import BundleSource, BundleTarget
from normstat.bundles.bundle_writer import to_text
from normstat.bundles.record_sections import MAX_NAME, Json, add_json, instant_of, put_all, section_bytes, text_of
from normstat.comparison.past_incident_rows import MAX_TEXT, list_patterns_of, put_pattern
from normstat.db.session import WriteSession
from normstat.window import Window

# A host with every tool that there is a spec for has some 3,000 fields.
MAX_KEYS: Final = 20_000
MAX_KEY: Final = 200


class PatternSection:
    """Past incidents with a cause, in the windows. Here they stand for themselves: their comparisons are another section."""

    name = "patterns"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the patterns."""
        rows = [
            {
                "start": to_text(row.start_at), "end": to_text(row.end_at), "title": row.title, "sentence": row.sentence,
                "cause": row.cause, "remedy": row.remedy, "named_by": row.named_by, "named_at": to_text(row.named_at),
                "signature": row.signature,
            }
            for row in await list_patterns_of(source.session, source.host, source.windows)
        ]  # fmt: skip
        add_json(source, "patterns.json.zst", rows)
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the patterns, under the host's name here. One that is here already stays as it is, also where it is switched off."""

        async def put(session: WriteSession, host_id: int, row: Json) -> bool:
            del host_id
            window = Window(instant_of(row, "start"), instant_of(row, "end"))
            return await put_pattern(
                session,
                {
                    "hosts": [target.host], "start_at": window.start, "end_at": window.end, "title": text_of(row, "title"),
                    "sentence": text_of(row, "sentence"), "cause": text_of(row, "cause", MAX_TEXT),
                    "remedy": text_of(row, "remedy", MAX_TEXT), "named_at": instant_of(row, "named_at"),
                    "named_by": target.author_of(text_of(row, "named_by", MAX_NAME)), "signature": _signature(row["signature"]),
                    "origin": target.provenance,
                },
            )  # fmt: skip

        await put_all(target, section, put, "pattern")
        yield section_bytes(section)


def _signature(found: Any) -> dict[str, float]:
    """Return a signature. Raises: TypeError, ValueError for anything else"""
    if not isinstance(found, dict) or len(found) > MAX_KEYS:
        raise TypeError("signature")
    signature = {str(key)[:MAX_KEY]: float(effect) for key, effect in found.items() if "\x00" not in str(key)}
    if not all(abs(effect) < float("inf") for effect in signature.values()):
        raise ValueError("signature")
    return signature
