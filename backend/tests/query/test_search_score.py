"""How words find metrics: the rule that server and page share, and the words of the catalogue."""

import json
from pathlib import Path
from typing import Any

import pytest

from normstat.comparison.next_questions.field_meanings import list_field_meanings
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.query.search.metric_index import MetricIndex
from normstat.query.search.search_answer import rank_metrics
from normstat.query.search.search_score import MAX_WORDS, Searchable, score, split_words
from normstat.stats.catalogue import load_catalogue

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "frontend/src/logic/finder_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['query']} in {case['names']}")
def test_page_and_server_rank_alike(case: dict[str, Any]) -> None:
    assert score(split_words(case["query"]), Searchable.of(case["names"], case["texts"])) == case["score"]


def test_a_query_has_only_so_many_words() -> None:
    assert len(split_words("a " * 500)) == MAX_WORDS


@pytest.fixture(scope="module")
def index() -> MetricIndex:
    catalogue = load_catalogue()
    return MetricIndex(catalogue, list_field_meanings(catalogue.stats, load_rules()))


def found(index: MetricIndex, query: str, stats: set[str]) -> list[tuple[str, str]]:
    return [(entry.stat, entry.field.key) for _, entry in rank_metrics(index.entries, split_words(query)) if entry.stat in stats]


def test_a_metric_is_found_whatever_its_tool_calls_it(index: MetricIndex) -> None:
    linux = {"vmstat_linux", "mpstat_linux", "linux_cpu", "sar_linux_cpu"}
    iowait = found(index, "iowait", linux)
    assert {stat for stat, _ in iowait} == linux
    assert iowait[-1] == ("vmstat_linux", "cpu_wa"), "called so by others only"
    assert ("mpstat_solaris", "wt_pct") in found(index, "%iowait", {"mpstat_solaris"})


@pytest.mark.parametrize(
    ("query", "stat", "field"),
    [
        ("%util", "iostat_linux", "util_pct"),
        ("threads waiting cpu", "vmstat_solaris", "kthr_r"),
        ("context switches", "mpstat_solaris", "csw"),
        ("mutex", "mpstat_solaris", "smtx"),
    ],
)
def test_metrics_are_found_by_column_title_and_meaning(index: MetricIndex, query: str, stat: str, field: str) -> None:
    assert field in [key for _, key in found(index, query, {stat})]


def test_every_field_of_the_catalogue_is_found_by_its_column(index: MetricIndex) -> None:
    lost = [
        (entry.stat, entry.field.column)
        for entry in index.entries
        if entry.field.column.split() and score(split_words(entry.field.column), entry.text) is None
    ]
    assert not lost
