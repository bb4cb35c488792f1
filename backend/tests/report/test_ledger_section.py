"""The ledger in the report: one table for each host, none without a ledger."""

from dataclasses import replace

from normstat.report.blocks import TableBlock
from normstat.report.comparison_blocks import ledger_blocks
from normstat.report.report_page import render_report
from tests.report.made import HOSTILE, comparison, group, ledger_line, ledger_of_memory, ledger_part
from tests.report.test_page import COVER, read


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
