"""Translate ids and names of the server where a bundle was made into those here: in notes of reports, links and texts. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from normstat.report.blocks import Block, LinkBlock, SaidBlock, TextBlock
from normstat.report.note_models import (
    ArtefactDiffNote,
    ArtefactNote,
    ComparisonNote,
    EventsNote,
    ExperimentNote,
    FactsNote,
    FileNote,
    GraphNote,
    ImageNote,
    ReportNoteContent,
    TableNote,
    TextNote,
)

# A link in Markdown that leads to a thing with a number, or to a host.
LINK: Final = re.compile(r"\]\((/(?:artefacts|experiments|reports|comparison|hosts)\b[^)\s]*)")
NUMBERED: Final = re.compile(r"/(artefacts|experiments|reports)/(\d{1,18})(.*)", re.DOTALL)
OF_HOST: Final = re.compile(r"/hosts/([^/?#]+)(.*)", re.DOTALL)
# The address of a link whose target the bundle does not carry: nowhere, rather than another thing with that number.
NOWHERE: Final = "#not-in-the-bundle"


class LostReference(Exception):
    """A note refers to something that is not in the bundle."""


@dataclass(slots=True)
class ReferenceMap:
    """Ids here by their ids there; `host_there` is called `host_here`. `server`: where the bundle was made."""

    host_there: str
    host_here: str
    server: str
    artefacts: dict[int, int] = field(default_factory=dict)
    baselines: dict[int, int] = field(default_factory=dict)
    comparisons: dict[int, int] = field(default_factory=dict)
    experiments: dict[int, int] = field(default_factory=dict)
    reports: dict[int, int] = field(default_factory=dict)

    def to_host(self, host: str) -> str:
        """Return the name of a host here; hosts other than the bundle's keep theirs."""
        return self.host_here if host == self.host_there else host

    def to_note(self, note: ReportNoteContent, files: Mapping[int, int]) -> ReportNoteContent:
        """Return a note with the ids and names here, or a text that says what is missing if the bundle lacks it.

        `files`: ids of the report's files here, by their ids there.
        """
        comment = self.to_markdown(note.comment)
        try:
            return self._to_note(note, files).model_copy(update={"comment": comment})
        except LostReference as lost:
            said = f"*From {_plain(self.server)}: {lost}, which its bundle does not carry.*"
            return TextNote(kind="text", title=note.title, comment=comment, markdown=said)

    def _to_note(self, note: ReportNoteContent, files: Mapping[int, int]) -> ReportNoteContent:
        match note:
            case TextNote():
                return note.model_copy(update={"markdown": self.to_markdown(note.markdown)})
            case TableNote():
                return note
            case GraphNote() | FactsNote():
                return note.model_copy(update={"host": self.to_host(note.host)})
            case EventsNote():
                return note.model_copy(update={"hosts": [self.to_host(host) for host in note.hosts]})
            case ArtefactNote():
                return note.model_copy(update={"artefact": _find(self.artefacts, note.artefact, "artefact")})
            case ArtefactDiffNote():
                sides = {name: _find(self.artefacts, getattr(note, name), "artefact") for name in ("baseline", "incident")}
                return note.model_copy(update=sides)
            case ExperimentNote():
                return note.model_copy(update={"experiment": _find(self.experiments, note.experiment, "experiment")})
            case ComparisonNote():
                known = None if note.comparison is None else _find(self.comparisons, note.comparison, "saved comparison")
                inputs = None if note.inputs is None else self.to_inputs(note.inputs)
                return note.model_copy(update={"comparison": known, "inputs": inputs})
            case ImageNote() | FileNote():
                return note.model_copy(update={"file": _find(files, note.file, "file")})

    def to_inputs(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a comparison as they are here.

        Raises: LostReference for a baseline that the bundle does not carry; TypeError, ValueError for invalid parameters
        """
        found = dict(inputs)
        host = found.get("host")
        if host is not None:
            found["host"] = [self.to_host(str(each)) for each in (host if isinstance(host, list) else [host])]
        if found.get("other_host") is not None:
            found["other_host"] = self.to_host(str(found["other_host"]))
        if found.get("baseline") is not None:
            found["baseline"] = _find(self.baselines, int(found["baseline"]), "baseline")
        return found

    def to_blocks(self, blocks: Sequence[Block]) -> list[Block]:
        """Return frozen blocks whose links lead to the things here; a link without a target becomes a sentence."""
        found: list[Block] = []
        for block in blocks:
            match block:
                case LinkBlock(text, path):
                    here = self.to_path(path)
                    found.append(SaidBlock(f"{text}: on {self.server}", "soft") if here == NOWHERE else LinkBlock(text, here))
                case TextBlock(markdown):
                    found.append(TextBlock(self.to_markdown(markdown)))
                case _:
                    found.append(block)
        return found

    def to_markdown(self, text: str) -> str:
        """Return a text whose links inside normstat lead to the things here."""
        return LINK.sub(lambda link: f"]({self.to_path(link[1])}", text)

    def to_path(self, path: str) -> str:
        """Return a path of the page as it is here; NOWHERE for a thing that the bundle does not carry."""
        if numbered := NUMBERED.fullmatch(path):
            known = {"artefacts": self.artefacts, "experiments": self.experiments, "reports": self.reports}[numbered[1]]
            here = known.get(int(numbered[2]))
            return NOWHERE if here is None else f"/{numbered[1]}/{here}{numbered[3]}"
        if of_host := OF_HOST.fullmatch(path):
            return f"/hosts/{quote(self.to_host(unquote(of_host[1])), safe='')}{of_host[2]}"
        if path.startswith("/comparison?"):
            try:
                return f"/comparison?{urlencode([self._to_parameter(*each) for each in parse_qsl(path.partition('?')[2])])}"
            except (LostReference, ValueError):
                return NOWHERE
        return path

    def _to_parameter(self, name: str, value: str) -> tuple[str, str]:
        if name in {"host", "other_host"}:
            return name, self.to_host(value)
        if name == "baseline":
            return name, str(_find(self.baselines, int(value), "baseline"))
        if name in {"saved", "comparison"}:
            return name, str(_find(self.comparisons, int(value), "saved comparison"))
        return name, value


def _find(known: Mapping[int, int], id_there: int, what: str) -> int:
    if id_there not in known:
        raise LostReference(f"{what} {id_there}")
    return known[id_there]


def _plain(text: str) -> str:
    return re.sub(r"[^\w .:-]", "_", text)[:100]
