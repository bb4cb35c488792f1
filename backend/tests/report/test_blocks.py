"""An experiment in a report: sentence, charts, both tables, nothing cut silently; and the ledger, one table for each host."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from normstat.experiments.experiment_rows import Experiment, StoredRun
from normstat.experiments.run_facts import describe_run
from normstat.report.block_html import render_document
from normstat.report.blocks import FigureBlock, ReportDocument, ReportSection, SaidBlock, TableBlock, pack_blocks, unpack_blocks
from normstat.report.comparison_blocks import ledger_blocks
from normstat.report.experiment_blocks import experiment_blocks
from normstat.report.note_models import ExperimentNote
from normstat.report.pdf import render_pdf
from normstat.report.report_page import render_report
from normstat.stats.measured_value import MeasuredValue
from tests.report.made import HOSTILE, comparison, group, ledger_line, ledger_of_memory, ledger_part
from tests.report.test_page import COVER, read

START = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def run(number: int, factors: dict[str, str], real_s: float | None, *, status: int = 0) -> StoredRun:
    start = START + timedelta(seconds=60 * number)
    results = [] if real_s is None else [MeasuredValue("real", real_s, "s"), MeasuredValue("user", real_s / 2, "s")]
    return StoredRun(number, 1, "alpha", start, None, factors, "xz", status, "", "", "cli", "ann", results, [])


def blocks_of(runs: list[StoredRun], **asked: object) -> list[object]:
    known = Experiment(7, "xz<b>", "", "", "ann", START, len(runs), START, START, ["alpha"], ["threads"])
    note = ExperimentNote.model_validate({"kind": "experiment", "experiment": 7, **asked})
    blocks = experiment_blocks(known, [describe_run(each) for each in runs], note)
    assert unpack_blocks(pack_blocks(blocks)) == blocks
    document = ReportDocument("t", [], [ReportSection("s", blocks)], {}, "ann", "now", "", "")
    page = render_document(document)
    assert "xz&lt;b&gt;" in page
    assert "xz<b>" not in page
    assert render_pdf(document).startswith(b"%PDF-")
    return list(blocks)


def test_the_sentence_the_chart_and_both_tables() -> None:
    times = {"1": 8.0, "2": 4.04, "4": 4.01, "8": 4.02}
    runs = [run(n, {"threads": level}, real) for n, (level, real) in enumerate([*times.items(), ("2", 4.05)])]
    lead, detail, about, chart, levels, table = blocks_of([*runs, run(9, {"threads": "8"}, 1.0, status=2)], limit=3)
    assert lead == SaidBlock("Full at threads=2: 1.98 times as fast as the reference; more adds nothing.", "lead")
    assert detail == SaidBlock("Knee at 2.012 (95 % interval 1.991 – 2.033). R² 0.9998, 5 runs.", "soft")
    assert isinstance(about, SaidBlock)
    assert about.text.endswith("; 1 run left out.")
    assert isinstance(chart, FigureBlock)
    assert chart.csv.count("\r\n") == 7
    assert isinstance(levels, TableBlock)
    assert levels.rows[0] == ["1", "1", "8", "one run", "1.00", "100 %"]
    assert levels.rows[1][:3] == ["2", "2", "4.045"]
    assert isinstance(table, TableBlock)
    assert len(table.rows) == 3
    assert "The first 3 of 6 runs" in table.caption


def test_levels_that_are_no_numbers_are_47_times_apart() -> None:
    # The encryption of the seeds: the first attempt against the reference.
    runs = [run(n, {"version": name}, real) for n, (name, real) in enumerate([("reference", 9.632), ("first", 452.73)])]
    assert blocks_of(runs, limit=0)[0] == SaidBlock("real of first is 47.0 times that of reference.", "lead")


@pytest.mark.parametrize("runs", [[], [run(1, {}, None)], [run(1, {}, 0.0)], [run(1, {"threads": "1"}, 5.0)]])
def test_what_says_little_is_drawn_too(runs: list[StoredRun]) -> None:
    assert blocks_of(runs)


def test_the_table_stands_under_the_verdict() -> None:
    page = read(render_report(comparison(group(), ledger=[ledger_line(), ledger_of_memory()]), COVER))
    told = page.text
    assert "CPU98 %12 to 19 %yes (812) 85 %, 97 % of the rise, newsure" in told
    assert "Memory1.3 of 23.6 GiB1.1 to 1.4 GiBas normal" in told
    assert told.index("The kernel works more.") < told.index("Who took what") < told.index("Summary")


def test_several_hosts_have_a_table_each_and_an_empty_ledger_none() -> None:
    record = comparison(group(), hosts=["web1", "web2"], ledger=[ledger_line(), ledger_line(host="web2")])
    tables = (
        read(render_report(record, COVER)).elements["table"]
        - read(render_report(replace(record, ledger=[]), COVER)).elements["table"]
    )
    assert tables == 2
    assert "Who took what" not in render_report(replace(record, ledger=[]), COVER)


def test_a_note_of_a_comparison_has_it_as_a_table() -> None:
    [table] = ledger_blocks(comparison(ledger=[ledger_line(), ledger_of_memory()]))
    assert isinstance(table, TableBlock)
    assert table.rows == [
        ["CPU", "98 %", "12 to 19 %", "yes (812) 85 %, 97 % of the rise, new", "sure"],
        ["Memory", "1.3 of 23.6 GiB", "1.1 to 1.4 GiB", "", "as normal"],
    ]
    assert ledger_blocks(comparison()) == []


def test_names_of_a_hostile_host_are_text() -> None:
    line = ledger_line(host=HOSTILE, instance=HOSTILE, resource="disk", note=HOSTILE, parts=[ledger_part(name=HOSTILE)])
    page = read(render_report(comparison(hosts=[HOSTILE, "web2"], ledger=[line, replace(line, parts=[])]), COVER))
    assert page.elements["script"] == page.elements["img"] == 0
