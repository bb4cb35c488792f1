"""The artefacts of a bundle: raw text and what people wrote about it. Parts are read again where it arrives."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import anyio.to_thread

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.artefacts.tools import Effect
from normstat.bundles import bundle_rows
from normstat.bundles.bundle_format import BundleMember, BundleSection
from normstat.bundles.bundle_sections import BundleSource, BundleTarget, section_result
from normstat.bundles.bundle_writer import to_instant_or_none, to_text
from normstat.db.session import open_write_session
from normstat.errors import BadRequest, NormstatError, NotFound
from normstat.records.artefact_rows import ArtefactSource, read_text
from normstat.runtime.input_limits import MAX_ARTEFACT_BYTES

MAX_WORDS: Final = 20_000
WORDS: Final = ("title", "question", "command", "file_name", "author")


class ArtefactSection:
    """What tools printed once."""

    name = "artefacts"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write a member for each artefact: its raw text."""
        for artefact in await bundle_rows.list_artefacts_in(source.session, source.host, source.windows, source.named.artefacts):
            name = f"artefacts/{len(source.index) + 1:06d}.txt.zst"
            with source.writer.open_member(name) as member:
                async for part in read_text(source.session, artefact.id):
                    await anyio.to_thread.run_sync(member.write, part)
                source.members.append(member.finish())
            source.index.append({
                "member": name, "id": artefact.id, "start": to_text(artefact.start), "end": to_text(artefact.end),
                "duration_s": artefact.duration_s, "spec": artefact.spec, "tool": artefact.tool, "title": artefact.title,
                "question": artefact.question, "command": artefact.command, "file_name": artefact.file_name,
                "effect": artefact.effect, "source": artefact.source, "author": artefact.author,
                "created": to_text(artefact.created),
            })  # fmt: skip
            yield
        source.counts["artefacts"] = len(source.index)

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the artefacts that are not here."""
        members = {member.name: member for member in section.members}
        n_done = n_new = 0
        for entry in section.index:
            member = members.get(str(entry.get("member")))
            if member is None or member.n_bytes > MAX_ARTEFACT_BYTES:
                raise BadRequest("The index of artefacts in the bundle does not fit its members; nothing more was loaded")
            n_new += await self._put(target, entry, member)
            n_done += member.n_bytes
            yield n_done
        if section.index:
            n = len(section.index)
            note = target.provenance if n_new else "already here"
            target.told(section_result("artefacts", f"{n} artefact{'' if n == 1 else 's'}", note, n=n, n_new=n_new))

    async def _put(self, target: BundleTarget, entry: dict[str, object], member: BundleMember) -> int:
        try:
            start, end, created = (to_instant_or_none(entry[key]) for key in ("start", "end", "created"))
            words = {key: str(entry[key]).replace("\x00", "")[:MAX_WORDS] for key in WORDS}
            duration_s = None if entry["duration_s"] is None else float(str(entry["duration_s"]))
            effect, spec, id_there = Effect(str(entry["effect"])), str(entry["spec"]), int(str(entry["id"]))
        except (KeyError, TypeError, ValueError):
            start = created = None
        if start is None or created is None or start.utcoffset() is None or created.utcoffset() is None:
            raise BadRequest("The index of artefacts in the bundle is damaged; nothing more was loaded")
        with tempfile.NamedTemporaryFile(prefix="normstat-bundle-") as file:
            await anyio.to_thread.run_sync(lambda: file.writelines(target.bundle.read(member)))
            file.flush()
            made = None
            # The tool that was chosen there, where this normstat knows it.
            for tried in ([spec] if spec else []) + [None]:
                draft = ArtefactDraft(
                    host=target.host, source=ArtefactSource.BUNDLE, author=target.author_of(words["author"]), start=start, end=end,
                    duration_s=duration_s, title=words["title"], question=words["question"], command=words["command"],
                    file_name=words["file_name"], spec=tried, effect=effect,
                )  # fmt: skip
                try:
                    made = await make_artefact(target.sessions, draft, Path(file.name), now=created)
                    break
                except NotFound:
                    continue
                except NormstatError as error:
                    target.told(section_result(f"artefact {words['title'] or words['file_name']}", "artefact", error.message, n=1))
                    return 0
        if made is not None:
            target.references.artefacts[id_there] = made.id
        if made is None or made.source != ArtefactSource.BUNDLE or made.created == created:
            return 0
        async with open_write_session(target.sessions) as session:
            values = {"created_at": created, "start_at": start, "end_at": end, "duration_s": duration_s}
            await bundle_rows.set_artefact_origin(session, made.id, values)
        return 1
