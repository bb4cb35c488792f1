"""Saved comparisons: what this version wrote, and a row that the first format wrote."""

from dataclasses import replace
from pathlib import Path

import pytest

from normstat.comparison.model import Comparison, Counts
from normstat.comparison.saved_format import read_json, to_json
from normstat.report.numbers import write_csv
from normstat.report.report_page import Cover, render_report
from tests.report.made import NO_VALUES, START, comparison, finding, group

FIRST_FORMAT = (Path(__file__).parent / "saved_first_format.json").read_bytes()


def test_what_was_written_is_read_again() -> None:
    empty = finding("1", incident=NO_VALUES, sparkline=None, is_worse=None)
    written = comparison(group(1, "0", members=[finding("0"), empty]), divisor="vmstat_linux.system_in")
    assert read_json(to_json(written)) == written
    assert read_json(to_json(written, indent=2)) == written


def test_kilobytes_that_are_known_to_be_kib_are_called_so() -> None:
    """Saved before the unit was told apart: the numbers were right, the word was not."""

    def saved(stat: str, field: str, sentence: str) -> Comparison:
        one = group(1, "sda", members=[replace(finding("sda"), sentence=sentence)])
        return comparison(replace(one, stat=stat, field=field, unit="kB/s", sentence=sentence))

    text = "kB_read/s of sda (iostat) rose from 1.50 kB/s to 90 kB/s"
    [read] = read_json(to_json(saved("iostat_linux", "kb_read_per_s", text))).groups
    assert read.unit == "KiB/s"
    assert [read.sentence, read.members[0].sentence] == ["kB_read/s of sda (iostat) rose from 1.50 KiB/s to 90 KiB/s"] * 2
    # A field that is not known any more may have counted either way.
    gone = saved("gone_tool", "kb_read_per_s", text)
    assert read_json(to_json(gone)) == gone


def test_a_row_of_the_first_format_is_read() -> None:
    found = read_json(FIRST_FORMAT)
    [group] = found.groups
    assert (group.change_ratio, group.significance, group.anomaly_score) == (93.2957764, 26.49969, 0.757823727)
    [member] = group.members
    assert (member.change_scale, member.change, member.change_ratio) == (0.884927511, -81.9400024, 93.2957764)
    assert (member.significance, member.explained_by_load) == (26.49969, 0.0)
    assert (member.change_ratios.value, member.change_ratios.load) == (300.500641, 20.6195488)
    # These were stored with the group only.
    assert (member.direction, member.is_worse) == ("down", True)
    assert member.anomaly_score == pytest.approx(0.746311902)
    assert member.sparkline is not None
    assert member.sparkline.low == [7.88, 12.61, 10.82]
    assert [(item.instance, item.n) for item in found.appeared] == [("77/yes", 120)]
    assert [(item.instance, item.n) for item in found.disappeared] == [("78/no", 40)]
    assert [item.n_incident for item in found.insufficient_data] == [120]
    assert found.counts == Counts(1, 1, 1, 1)
    # The first format had the significance of muted series only.
    [muted] = found.muted
    assert (muted.change_ratio, muted.significance) == (None, 18.710246983995464)


def test_a_row_of_the_first_format_becomes_a_report() -> None:
    found = read_json(FIRST_FORMAT)
    assert "93.3 times its usual change" in render_report(found, Cover("Old", "", "ann", START, ""))
    assert b"muted,,web1,mpstat_linux,usr_pct" in write_csv(found)
    assert read_json(to_json(found)) == found


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"hosts": []}', b'{"one_sided": []}', b'{"one_sided": 3, "thin": []}'])
def test_other_json_is_rejected(body: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_json(body)


def test_samples_that_were_not_read_are_counted() -> None:
    written = comparison()
    sides = replace(written.sides, baseline=replace(written.sides.baseline, n_rows_skipped=7))
    read: Comparison = read_json(to_json(replace(written, sides=sides)))
    assert read.sides.baseline.n_rows_skipped == 7
