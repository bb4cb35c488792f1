"""What a build sees of a comparison: exit codes and JUnit XML."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from normstat.cli import app
from normstat.cli.ci_check import CheckCase, FailCondition, FailOn, failures_of, parse_fail_on, write_junit
from normstat.errors import BadRequest


def long_csv(path: Path, level: int, metrics: tuple[str, ...] = ("calm", "busy")) -> Path:
    lines = [
        f"2026-11-21T10:{second // 60:02d}:{second % 60:02d}Z,{metric},{(level if metric == 'busy' else 5) + second % 7}"
        for second in range(600)
        for metric in metrics
    ]
    path.write_text("time,metric,value\n" + "\n".join(lines) + "\n")
    return path


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    return result.exit_code, result.output


def test_exit_codes_of_two_files(tmp_path: Path) -> None:
    calm, busy = long_csv(tmp_path / "a.csv", 5), long_csv(tmp_path / "b.csv", 500, ("calm", "busy", "fresh"))
    files = ("--baseline-csv", calm, "--incident-csv", busy)
    assert run(*files)[0] == 0
    code, said = run(*files, "--fail-on", "unusual", "--junit", tmp_path / "r.xml")
    assert (code, "--fail-on unusual: 1 finding, the limit is 1" in said) == (3, True)
    assert run(*files, "--fail-on", "unusual:2")[0] == 0
    assert run(*files, "--fail-on", "appeared")[0] == 3
    assert run(*files, "--fail-on", "nonsense")[0] == 2
    assert run("--baseline-csv", calm, "--incident-csv", calm, "--fail-on", "unusual")[0] == 0
    assert run("--baseline-csv", tmp_path / "none", "--incident-csv", calm, "--fail-on", "unusual")[0] == 1
    root = ET.parse(tmp_path / "r.xml").getroot()
    assert (root.tag, root.get("failures")) == ("testsuites", "1")
    assert [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None] == ["busy"]


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    cases = [CheckCase(FailOn.UNUSUAL, '<b>\x00&"', ["]]> \x1b <script>"]), CheckCase(FailOn.DISTURBED, "tools", [])]
    write_junit(tmp_path / "r.xml", cases, [FailCondition(FailOn.UNUSUAL, 1)])
    first, _ = ET.parse(tmp_path / "r.xml").getroot().iter("testcase")
    assert first.get("name") == '<b>\ufffd&"'
    assert first.findtext("failure") == "]]> \ufffd <script>"


def test_limits() -> None:
    cases = [CheckCase(FailOn.APPEARED, "new", ["a", "b"])]
    assert failures_of(cases, parse_fail_on(["appeared:3", "unusual", "disturbed"])) == []
    assert len(failures_of(cases, parse_fail_on(["appeared:2"]))) == 1
    for text in ("unusual:0", "unusual:", "Unusual", "unusual:-1", ""):
        with pytest.raises(BadRequest):
            parse_fail_on([text])
