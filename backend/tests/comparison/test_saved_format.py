"""Saved comparisons are read as they were written; other JSON is rejected."""

from dataclasses import replace

import pytest

from normstat.comparison.saved_format import read_json, to_json
from tests.report.made import NO_VALUES, comparison, finding, group


def test_what_was_written_is_read_again() -> None:
    empty = finding("1", incident=NO_VALUES, sparkline=None, is_worse=None)
    made = comparison(group(1, "0", members=[finding("0"), empty]), divisor="vmstat_linux.system_in")
    sides = replace(made.sides, baseline=replace(made.sides.baseline, n_rows_skipped=7))
    written = replace(made, sides=sides)
    assert read_json(to_json(written)) == written
    assert read_json(to_json(written, indent=2)) == written


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"hosts": []}'])
def test_other_json_is_rejected(body: bytes) -> None:
    with pytest.raises(ValueError, match="Comparison"):
        read_json(body)
