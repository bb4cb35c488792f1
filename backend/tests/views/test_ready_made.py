"""The views that come with normstat: every panel that they name exists."""

import pytest

from normstat.comparison.next_questions.question_rules import load_rules
from normstat.stats.catalogue import built_in_catalogue
from normstat.views.view_rows import ReadyMadeView, ready_made_views


def test_every_panel_has_a_title() -> None:
    assert all(panel.title for view in ready_made_views() for panel in view.panels)
    disks = next(view for view in ready_made_views() if view.key == "disks")
    assert disks.panels[0].title == "Device busy"


def test_keys_and_names_are_unique() -> None:
    views = ready_made_views()
    assert len({view.key for view in views}) == len({view.name for view in views}) == len(views)


TOOLS = {"docker_stats", "nvidia_smi", "nvidia_smi_query", "dcgmi", "rocm_smi", "below", "atop", "atopsar", "dstat", "ping"}


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_what_a_view_draws_of_a_tool_can_be_asked_about(tool: str) -> None:
    stats = {stat.name: stat for stat in built_in_catalogue().specs[tool].stats}
    drawn = {
        (own.stat, own.panel) for view in ready_made_views() for panel in view.panels for own in panel.sources if own.stat in stats
    }
    assert drawn, "no view draws it"
    silent = {
        (name, key)
        for name, key in drawn
        for panel in stats[name].panels
        if panel.key == key and not any(load_rules().find_meanings(name, field, ("x",)) for field in panel.fields)
    }
    # Linux scans before it is short of memory, and a limit of Solaris would judge it. Who uses a GPU is the answer, no question.
    assert {key for _, key in silent if key != "scan"} <= {"busy", "memory"}
    assert {name for name, key in silent if key != "scan"} <= {"nvidia_smi_process", "nvidia_smi_query_process"}


def test_how_full_file_systems_are_is_known_of_each_tool() -> None:
    stats = {stat.name: stat for spec in built_in_catalogue().specs.values() for stat in spec.stats}
    (panel,) = (
        panel for view in ready_made_views() if view.key == "disks" for panel in view.panels if panel.sources[0].stat == "df_linux"
    )
    fields = {
        (own.stat, key) for own in panel.sources for each in stats[own.stat].panels if each.key == own.panel for key in each.fields
    }
    unknown = {own for own in fields if "fs.full" not in load_rules().find_meanings(*own, ("/",))}
    assert not unknown, "neither the USE matrix nor a question knows it"


@pytest.mark.parametrize("view", ready_made_views(), ids=lambda view: view.key)
def test_every_source_is_a_panel_of_the_catalogue(view: ReadyMadeView) -> None:
    stats = {stat.name: stat for spec in built_in_catalogue().specs.values() for stat in spec.stats}
    known = {(name, panel.key) for name, stat in stats.items() for panel in stat.panels}
    named = [(source.stat, source.panel) for panel in view.panels for source in panel.sources]
    assert set(named) <= known, set(named) - known
    assert len(named) == len(set(named)), "a panel twice in one view"
