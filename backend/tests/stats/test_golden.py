"""Every capture gives what its expected file says; `make golden` rewrites those."""

import json
import tomllib

import pytest

from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.engine.number_formats import format_values
from normstat.stats.engine.terminal import shown
from normstat.stats.records import LineKind, ReadResult
from tests.golden_captures import (
    GOLDEN,
    RECORDED,
    ROOTS,
    SYNTHETIC,
    SYNTHETIC_ORIGINS,
    Capture,
    captures,
    first_of_each_spec,
    render,
)
from tests.stats.reading import guessed

ALL = list(captures())


def is_row_by_row(capture: Capture) -> bool:
    """Whether every sample is one line; other readers make a sample of several lines, or several of one."""
    return require_spec(capture.spec).reader == "columns"


@pytest.mark.parametrize("capture", ALL, ids=lambda capture: capture.name)
def test_capture_gives_what_is_expected(capture: Capture) -> None:
    # Read once for all that must hold: there are hundreds of captures.
    result = capture.result()
    text = render(result)
    json.loads(text)
    assert text == capture.expected_path.read_text(), "run `make golden`, look at the difference, and explain it in the commit"
    assert_every_byte_is_accounted_for(capture, result)
    if is_row_by_row(capture):
        assert_what_was_printed_comes_back(capture, result)


def assert_every_byte_is_accounted_for(capture: Capture, result: ReadResult) -> None:
    assert sum(result.accounts.n_bytes.values()) == result.n_taken == len(capture.data)
    assert sum(result.accounts.n_lines.values()) == len(capture.data.removesuffix(b"\n").split(b"\n"))
    assert sum(line.n_bytes for line in result.rejected) == result.accounts.n_bytes.get(LineKind.REJECTED, 0)
    if is_row_by_row(capture):
        n_rows = sum(len(block) for block in result.blocks if not block.stat.summary_of)
        assert n_rows == result.accounts.n_lines.get(LineKind.SAMPLE, 0)
        assert sum(map(len, result.since_boot)) == result.accounts.n_lines.get(LineKind.SINCE_BOOT, 0)
    else:
        assert bool(result.blocks or result.since_boot) == any(
            result.accounts.n_lines.get(kind, 0) for kind in (LineKind.SAMPLE, LineKind.SINCE_BOOT)
        )


def assert_what_was_printed_comes_back(capture: Capture, result: ReadResult) -> None:
    """Values and decimals, or `printed`, give back the very words of each row, in their order."""
    data = capture.data
    for block in (*result.blocks, *result.since_boot):
        if block.stat.summary_of:
            continue
        columns = [format_values(field, values) for field, values in zip(block.fields, block.values, strict=True)]
        for row, offset in enumerate(block.line_offset.tolist()):
            text = shown(data[offset:].split(b"\n", 1)[0].removesuffix(b"\r")).decode()
            line = (text.replace(",", " ") if "--commas" in capture.name else text).split()
            words = block.printed[row].split() if row in block.printed else [column[row] for column in columns]
            given = [word for word, mask in zip(words, block.missing, strict=True) if not (mask is not None and mask[row])]
            rest = iter(line)
            # Numbers wider than their columns touch.
            is_there = all(word in rest for word in given) or "".join(given) in "".join(line)
            assert is_there, f"{given} is not what stands in {line}"


@pytest.mark.parametrize("capture", first_of_each_spec(ALL))
def test_the_spec_is_guessed(capture: Capture) -> None:
    assert guessed(capture.data) == capture.spec


def test_specs_and_capture_folders_are_the_same() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {RECORDED, SYNTHETIC}
    folders = {path.name for root in ROOTS for kind in (RECORDED, SYNTHETIC) for path in root.glob(f"{kind}/*")}
    assert folders == set(load_catalogue().specs), "a spec without captures, or captures without a spec"


def test_captures_are_described() -> None:
    for capture in ALL:
        about = tomllib.loads(capture.path.with_suffix(".toml").read_text())
        assert {"command", "date", "origin", "licence", "shows"} == set(about), capture.name
        assert capture.is_recorded is not about["origin"].startswith(SYNTHETIC_ORIGINS), f"{capture.name} is in the wrong folder"


def test_a_capture_has_one_name() -> None:
    names = [capture.name for capture in ALL]
    assert len(set(names)) == len(names)


def test_no_file_is_left_over() -> None:
    known = {path for capture in ALL for path in (capture.path, capture.path.with_suffix(".toml"), capture.expected_path)}
    assert {path for root in ROOTS for kind in (RECORDED, SYNTHETIC) for path in root.glob(f"{kind}/*/*")} == known
