"""Templates of reports that come with normstat: report_templates.toml."""

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from normstat.errors import NotFound, shorten
from normstat.report.note_models import TextNote
from normstat.runtime.field_docs import Documented

PLACEHOLDER: Final = re.compile(r"\[[^\]]+\]")
LABEL: Final = re.compile(r"\s*(?:[-*] )?[^:|]{0,60}:[\s,]*")
TABLE_RULE: Final = re.compile(r"\s*\|[-:| ]+\|\s*")


@dataclass(frozen=True, slots=True)
class ReportTemplate(Documented):
    """What a report can begin with."""

    key: str
    """The id of its report as text for a template that people made, else its name."""

    title: str
    description: str
    is_builtin: bool
    n_notes: int


@functools.cache
def _load() -> dict[str, dict[str, Any]]:
    return tomllib.loads((resources.files("normstat.report") / "report_templates.toml").read_text(encoding="utf-8"))


def list_templates() -> list[ReportTemplate]:
    """Return the templates that come with normstat."""
    return [
        ReportTemplate(key, each["title"], each["description"], is_builtin=True, n_notes=len(each["notes"]))
        for key, each in _load().items()
    ]


def notes_of(key: str) -> list[TextNote]:
    """Return the notes that a template begins with.

    Raises: NotFound
    """
    found = _load().get(key)
    if found is None:
        raise NotFound(f"There is no template {shorten(key)}; there are {', '.join(_load())}", {"template": key})
    return [TextNote(kind="text", title=note["title"], markdown=note["markdown"]) for note in found["notes"]]


@functools.cache
def _placeholders() -> frozenset[str]:
    texts = [note["markdown"] for each in _load().values() for note in each["notes"]]
    return frozenset(found for text in texts for found in PLACEHOLDER.findall(text))


def without_placeholders(markdown: str) -> str:
    """Return a text without what a template says to write there: lines with nothing else go, and tables without rows.

    Missing: "" where nothing was written

    >>> without_placeholders("[The number, its spread over the repeats, and up to where it holds.]")
    ''
    >>> without_placeholders("- Noticed: 03:12, by Anna\\n- Affected: [hosts, services, users]")
    '- Noticed: 03:12, by Anna'
    """
    lines: list[str] = []
    for line in markdown.splitlines():
        left = PLACEHOLDER.sub(lambda found: "" if found[0] in _placeholders() else found[0], line)
        if left == line:
            lines.append(line)
        elif re.search(r"\w", left) and LABEL.fullmatch(left) is None:
            lines.append(left.rstrip())
    kept = [line for at, line in enumerate(lines) if not _is_head(lines, at)]
    return "\n".join(kept).strip()


def _is_head(lines: list[str], at: int) -> bool:
    """Return whether a line is the head of a table without rows, or the rule under it."""
    rule = next((place for place in (at, at + 1) if place < len(lines) and TABLE_RULE.fullmatch(lines[place])), None)
    has_rows = rule is not None and rule + 1 < len(lines) and lines[rule + 1].lstrip().startswith("|")
    return rule is not None and not has_rows
