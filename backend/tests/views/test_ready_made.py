"""The views that come with normstat: every panel that they name exists."""

import pytest

from normstat.stats.catalogue import built_in_catalogue
from normstat.views.ready_made import ReadyMadeView, ready_made_views


def test_every_panel_has_a_title() -> None:
    assert all(panel.title for view in ready_made_views() for panel in view.panels)
    disks = next(view for view in ready_made_views() if view.key == "disks")
    assert disks.panels[0].title == "Device busy"


def test_keys_and_names_are_unique() -> None:
    views = ready_made_views()
    assert len({view.key for view in views}) == len({view.name for view in views}) == len(views)


@pytest.mark.parametrize("view", ready_made_views(), ids=lambda view: view.key)
def test_every_source_is_a_panel_of_the_catalogue(view: ReadyMadeView) -> None:
    stats = {stat.name: stat for spec in built_in_catalogue().specs.values() for stat in spec.stats}
    known = {(name, panel.key) for name, stat in stats.items() for panel in stat.panels}
    named = [(source.stat, source.panel) for panel in view.panels for source in panel.sources]
    assert set(named) <= known, set(named) - known
    assert len(named) == len(set(named)), "a panel twice in one view"
