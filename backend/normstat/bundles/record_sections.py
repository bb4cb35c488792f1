"""What people wrote about a host, and the specs that its streams need: small members of JSON, put back row by row."""

import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import orjson
import zstandard

from normstat.baselines.baseline_records import to_windows
from normstat.bundles import bundle_rows
from normstat.bundles.bundle_format import BundleSection
from normstat.bundles.bundle_sections import BundleSource, BundleTarget, section_result
from normstat.bundles.bundle_writer import to_instant_or_none, to_text
from normstat.bundles.carried_stream import origin_of
from normstat.comparison.saved_comparison_rows import MAX_RESULT_BYTES
from normstat.db.schema.baseline_models import Baseline, BaselineVersion
from normstat.db.schema.models import UserSpec
from normstat.db.session import WriteSession, open_read_session, open_write_session
from normstat.errors import BadRequest, NormstatError, shorten
from normstat.records.event_rows import MAX_TEXT, EventSource
from normstat.runtime.bounded_decoding import load_in_turn, load_json, unpack_zstd
from normstat.runtime.readable import count_of
from normstat.samples.spec_refresh import reload_user_specs
from normstat.samples.user_specs import put_user_spec
from normstat.stats.catalogue import load_catalogue
from normstat.stats.fact_words import EventKind
from normstat.window import Window

MAX_NAME: Final = 200
# A comparison of 1,000 series has some 15,000.
MAX_RESULT_VALUES: Final = 1_000_000

Json = dict[str, Any]


class SpecSection:
    """User specs that the streams of the window need. One that differs here is left as it is, which is reported."""

    name = "specs"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the texts of the specs."""
        known = load_catalogue()
        streams = await bundle_rows.list_streams_in(source.session, source.host_id, source.windows, ())
        names = sorted({stream.spec for stream in streams} & set(known.user_specs))
        found = await bundle_rows.read_user_spec_texts(source.session, names)
        add_json(source, "specs.json.zst", [{"name": name, "toml": toml, "version": version} for name, toml, version in found])
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the specs that are not here."""
        for row in await read_rows(target, section):
            name, toml = str(row["name"]), str(row["toml"])
            async with open_read_session(target.sessions) as session:
                mine = await session.get(UserSpec, name)
            note = target.provenance
            is_new = mine is None and name not in load_catalogue().specs
            if is_new:
                try:
                    async with open_write_session(target.sessions) as session:
                        await put_user_spec(session, name=name, toml=toml, created_by=target.opened_by)
                except NormstatError as error:
                    raise BadRequest(f"The spec {shorten(name)} of the bundle cannot be added here: {error.message}") from error
                await reload_user_specs(target.sessions)
            elif mine is None or mine.toml != toml:
                note = f"another spec of this name is here and reads the streams; {target.provenance}"
            target.told(section_result(f"spec {name}", "user spec", note, n_new=int(is_new), n=1))
        yield section_bytes(section)


class ExclusionSection:
    """Exclusions that overlap the windows."""

    name = "exclusions"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the exclusions."""
        found = await bundle_rows.list_exclusions_in(source.session, source.host_id, source.windows)
        rows = [
            {
                "name": row.name, "note": row.note, "start": to_text(row.start_at), "end": to_text(row.end_at),
                "created_by": row.created_by, "created_at": to_text(row.created_at),
            }
            for row in found
        ]  # fmt: skip
        add_json(source, "exclusions.json.zst", rows)
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the exclusions, each for this host only."""

        async def put(session: WriteSession, host_id: int, row: Json) -> bool:
            window = Window(instant_of(row, "start"), instant_of(row, "end"))
            return await bundle_rows.put_exclusion(
                session,
                host_id,
                {
                    "name": text_of(row, "name", MAX_NAME), "note": text_of(row, "note"),
                    "start_at": window.start, "end_at": window.end,
                    "created_by": target.author_of(text_of(row, "created_by", MAX_NAME)),
                    "created_at": instant_of(row, "created_at"),
                },
            )  # fmt: skip

        await put_all(target, section, put, "exclusion")
        yield section_bytes(section)


class EventSection:
    """Events that people, scripts and the API noted, and lines of streams whose events were deleted.

    Events of streams are read again from their lines.
    """

    name = "events"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the events."""
        origins = {}
        for stream in await bundle_rows.list_streams_in(source.session, source.host_id, source.windows, ("host_facts",)):
            origins[stream.id] = origin_of(source.server_id, source.host, stream.spec, stream.key)
        rows = []
        for row in await bundle_rows.list_events_in(source.session, source.host_id, source.windows):
            if row.stream_id is not None and row.stream_id not in origins:
                continue
            rows.append({
                "start": to_text(row.start_at), "end": to_text(row.end_at), "not_before": to_text(row.not_before_at),
                "kind": row.kind, "text": row.text, "tags": list(row.tags), "source": row.source, "author": row.author,
                "created_at": to_text(row.created_at), "updated_at": to_text(row.updated_at), "deleted_at": to_text(row.deleted_at),
                "origin": None if row.stream_id is None else origins[row.stream_id], "line_offset": row.line_offset,
            })  # fmt: skip
        add_json(source, "events.json.zst", rows)
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the events, each for this host only; after the streams."""

        async def put(session: WriteSession, host_id: int, row: Json) -> bool:
            if row.get("origin") is not None:
                stream_ids = target.stream_ids.get(str(row["origin"]), [])
                await bundle_rows.delete_told_event(session, stream_ids, int(row["line_offset"]), instant_of(row, "deleted_at"))
                return False
            tags = [str(tag)[:MAX_NAME] for tag in row["tags"]]
            return await bundle_rows.put_event(
                session,
                host_id,
                {
                    "start_at": instant_of(row, "start"), "end_at": to_instant_or_none(row["end"]),
                    "not_before_at": to_instant_or_none(row["not_before"]), "kind": EventKind(row["kind"]).value,
                    "text": text_of(row, "text", MAX_TEXT), "tags": tags, "source": EventSource(row["source"]).value,
                    "author": target.author_of(text_of(row, "author", MAX_NAME)), "created_at": instant_of(row, "created_at"),
                    "updated_at": instant_of(row, "updated_at"), "is_for_all_hosts": False,
                },
            )  # fmt: skip

        await put_all(target, section, put, "event")
        yield section_bytes(section)


class BaselineSection:
    """Baselines of the host with all their versions. A rule is not carried: here its windows are those of that day.

    Profiles are built again from the samples.
    """

    name = "baselines"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the baselines."""
        found = await bundle_rows.list_baselines_of(
            source.session, source.host_id, source.windows, source.baselines, source.named.baselines
        )
        add_json(source, "baselines.json.zst", [_baseline_row(baseline, versions) for baseline, versions in found])
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the baselines that are not here, under another name where theirs is taken."""
        for row in await read_rows(target, section):
            name = text_of(row, "name", MAX_NAME)
            windows = _windows(row)
            values = {
                "note": text_of(row, "note"), "windows": windows,
                "version": int(row["version"]), "time_zone": text_of(row, "time_zone", 100),
                "created_by": target.author_of(text_of(row, "created_by", MAX_NAME)), "created_at": instant_of(row, "created_at"),
                "updated_at": instant_of(row, "updated_at"), "archived_at": to_instant_or_none(row["archived_at"]),
            }  # fmt: skip
            versions = [
                {
                    "version": int(one["version"]), "windows": _windows(one), "hosts": [str(host) for host in one["hosts"]],
                    "time_zone": text_of(one, "time_zone", 100), "reason": text_of(one, "reason"),
                    "made_by": target.author_of(text_of(one, "made_by", MAX_NAME)), "made_at": instant_of(one, "made_at"),
                }
                for one in row["versions"]
            ]  # fmt: skip
            await self._put(target, int(row["id"]), name, values, versions)
        yield section_bytes(section)

    async def _put(self, target: BundleTarget, id_there: int, name: str, values: Json, versions: Sequence[Json]) -> None:
        other = f"{name} ({target.provenance})"[:MAX_NAME]
        for tried in (name, other):
            async with open_write_session(target.sessions) as session:
                host_id = await _require_host_id(session, target)
                known = await bundle_rows.find_baseline_id(session, tried, host_id, values["windows"])
                made = (
                    None
                    if known is not None
                    else await bundle_rows.put_baseline(session, host_id, values | {"name": tried}, versions)
                )
            if known is not None or made is not None:
                target.references.baselines[id_there] = known or made or 0
                note = "already here" if known is not None else target.provenance
                target.told(section_result(f"baseline {tried}", "baseline", note, n=1, n_new=int(known is None)))
                return
        target.told(section_result(f"baseline {name}", "baseline", "not added: its names are taken here", n=1))


class ComparisonSection:
    """Saved comparisons of the host, with their results as they were."""

    name = "comparisons"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write the comparisons."""
        rows = [
            {
                "id": row.id, "name": row.name, "note": row.note, "inputs": row.inputs, "created_by": row.created_by,
                "created_at": to_text(row.created_at), "result": base64.b64encode(row.result).decode(),
            }
            for row in await bundle_rows.list_comparisons_of(source.session, source.host, source.windows, source.named.comparisons)
        ]  # fmt: skip
        add_json(source, "comparisons.json.zst", rows)
        yield

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the comparisons. Their inputs name the host and the baseline as they are here; the results stay as they were."""

        async def put(session: WriteSession, host_id: int, row: Json) -> bool:
            del host_id
            inputs: Json = dict(row["inputs"])
            inputs["host"] = [target.host if host == target.manifest.host else str(host) for host in inputs.get("host") or []]
            if inputs.get("baseline") is not None:
                inputs["baseline"] = target.references.baselines.get(int(inputs["baseline"]), inputs["baseline"])
            result = base64.b64decode(row["result"], validate=True)
            await load_in_turn(lambda: load_json(unpack_zstd(result, MAX_RESULT_BYTES), MAX_RESULT_VALUES))
            id_here, is_new = await bundle_rows.put_comparison(
                session,
                {
                    "name": text_of(row, "name", MAX_NAME), "note": text_of(row, "note"), "inputs": inputs, "result": result,
                    "created_by": target.author_of(text_of(row, "created_by", MAX_NAME)),
                    "created_at": instant_of(row, "created_at"),
                },
            )  # fmt: skip
            target.references.comparisons[int(row["id"])] = id_here
            return is_new

        await put_all(target, section, put, "saved comparison")
        yield section_bytes(section)


def add_json(source: BundleSource, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a member of JSON rows, if there are any, and count them."""
    section = name.partition(".")[0]
    source.counts[section] = len(rows)
    if rows:
        source.members.append(source.writer.add_member(name, [orjson.dumps(rows)]))


async def read_rows(target: BundleTarget, section: BundleSection) -> list[Json]:
    """Return the rows of the section's members.

    Raises: BadRequest
    """
    found: list[Json] = []
    for member in section.members:
        rows = await load_in_turn(partial(target.bundle.read_json, member))
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise BadRequest(f"The member {shorten(member.name)} of the bundle is not a list of rows; nothing more was loaded")
        found += rows
    return found


async def put_all(target: BundleTarget, section: BundleSection, put: Any, one: str) -> None:
    """Store all rows of the section in one transaction, and report how many of them are new.

    Raises: BadRequest for a row of another shape
    """
    rows = await read_rows(target, section)
    if not rows:
        return
    try:
        async with open_write_session(target.sessions) as session:
            host_id = await _require_host_id(session, target)
            n_new = sum([int(await put(session, host_id, row)) for row in rows])
    except (KeyError, TypeError, ValueError, OverflowError, zstandard.ZstdError):
        raise BadRequest(f"The section {section.name} of the bundle has an invalid row ({one}); it was left out") from None
    note = target.provenance if n_new else "already here"
    target.told(section_result(section.name, count_of(len(rows), one), note, n=len(rows), n_new=n_new))


async def _require_host_id(session: WriteSession, target: BundleTarget) -> int:
    host_id = await bundle_rows.find_host_id(session, target.host)
    assert host_id is not None
    return host_id


def section_bytes(section: BundleSection) -> int:
    """Return the bytes of a section's members."""
    return sum(member.n_bytes for member in section.members)


def _baseline_row(baseline: Baseline, versions: Sequence[BaselineVersion]) -> Json:
    return {
        "id": baseline.id, "name": baseline.name, "note": baseline.note, "windows": _pairs(to_windows(baseline.windows)),
        "version": baseline.version, "time_zone": baseline.time_zone, "created_by": baseline.created_by,
        "created_at": to_text(baseline.created_at), "updated_at": to_text(baseline.updated_at),
        "archived_at": to_text(baseline.archived_at), "rrule": baseline.rrule,
        "versions": [
            {
                "version": one.version, "windows": _pairs(to_windows(one.windows)),
                "hosts": list(one.hosts), "time_zone": one.time_zone,
                "reason": one.reason, "made_by": one.made_by, "made_at": to_text(one.made_at),
            }
            for one in versions
        ],
    }  # fmt: skip


def _pairs(windows: Sequence[Window]) -> list[tuple[str | None, str | None]]:
    return [(to_text(window.start), to_text(window.end)) for window in windows]


def _windows(row: Json) -> list[Window]:
    try:
        return [Window(_at(start), _at(end)) for start, end in row["windows"]]
    except (TypeError, ValueError):
        raise BadRequest("A baseline of the bundle has invalid windows; it was left out") from None


def instant_of(row: Json, key: str) -> Any:
    """Return a time of a row. Raises: KeyError, ValueError"""
    return _at(row[key])


def _at(text: object) -> Any:
    found = to_instant_or_none(text)
    if found is None or found.utcoffset() is None:
        raise ValueError(text)
    return found


def text_of(row: Json, key: str, limit: int = 100_000) -> str:
    """Return a text of a row, cut to a length. Raises: KeyError, TypeError"""
    text = row[key]
    if not isinstance(text, str) or "\x00" in text:
        raise TypeError(key)
    return text[:limit]
