"""Templates of reports that come with normstat: report_templates.toml."""

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from normstat.errors import NotFound, shorten
from normstat.report.note_models import TextNote
from normstat.runtime.field_docs import Documented


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
