"""The views that come with normstat, from ready_made.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from normstat.stats.catalogue import built_in_catalogue
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
    """Return a panel. Without a title it gets that of its first source, so that a host that has none of them can name it."""
    sources = tuple(_source(text) for text in raw["first_of"])
    title = str(raw.get("title", "")) or _title_of(sources[0])
    return ViewPanel(sources, title, PanelWidth(str(raw.get("width", "half"))))


def _title_of(source: PanelSource) -> str:
    _, stat = built_in_catalogue().stats[source.stat]
    return next(panel.title for panel in stat.panels if panel.key == source.panel)


def _source(text: str) -> PanelSource:
    """Return the source that `stat.panel`, or `stat.panel instances`, names."""
    name, _, instances = text.partition(" ")
    stat, _, panel = name.partition(".")
    return PanelSource(stat, panel, (), instances)
