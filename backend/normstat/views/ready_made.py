"""The views that come with normstat, from ready_made.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from normstat.views.view_panels import PanelSource, PanelWidth, ViewPanel


@dataclass(frozen=True, slots=True)
class ReadyMadeView:
    """A view that comes with normstat. It can be copied, not changed."""

    key: str
    name: str
    description: str
    panels: tuple[ViewPanel, ...]


@cache
def ready_made_views() -> tuple[ReadyMadeView, ...]:
    """Return the views that come with normstat, in the order of the file."""
    raw = tomllib.loads((resources.files("normstat.views") / "ready_made.toml").read_text(encoding="utf-8"))
    return tuple(
        ReadyMadeView(view["key"], view["name"], view["description"], tuple(_panel(panel) for panel in view["panels"]))
        for view in raw["views"]
    )


def _panel(raw: dict[str, str | list[str]]) -> ViewPanel:
    sources = tuple(_source(text) for text in raw["first_of"])
    return ViewPanel(sources, str(raw.get("title", "")), PanelWidth(str(raw.get("width", "half"))))


def _source(text: str) -> PanelSource:
    """Return the source that `stat.panel`, or `stat.panel instances`, names."""
    name, _, instances = text.partition(" ")
    stat, _, panel = name.partition(".")
    return PanelSource(stat, panel, (), instances)
