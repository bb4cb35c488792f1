"""`normstat compare`: a table, JSON, exit codes and JUnit XML for a build; `normstat report`: as a file."""

import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.cli import app
from normstat.cli.ci_check import CheckCase, FailCondition, FailOn, failures_of, parse_fail_on, write_junit
from normstat.db.session import open_write_session
from normstat.errors import BadRequest
from normstat.window import Window
from tests.api.samples import START
from tests.api.test_saved_comparisons import ASKED, fill
from tests.api.test_saved_comparisons import HOST as HOSTILE
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

pytestmark = on_either_database

N_NORMAL, N = 300, 360
FROM, MIDDLE, TO = (f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}" for seconds in (0, N_NORMAL, N))
INCIDENT = ("--host", "web1", "--from", MIDDLE, "--to", TO)


async def test_a_host_against_a_baseline_by_its_name(normstat: Commands, sessions: Sessions) -> None:
    rng = np.random.default_rng(5)
    usr = np.where(np.arange(N) < N_NORMAL, 3.0, 95.0) + np.round(rng.uniform(-1, 1, N), 2)
    await fill_stat(sessions, "mpstat_linux", START, np.arange(N), ("0",), usr_pct=usr)
    async with open_write_session(sessions) as session:
        normal = Window(START, START + timedelta(seconds=N_NORMAL))
        made = await create_baseline(session, BaselineDraft("quiet days", "", ("web1",), (normal,), "ann"))
    out = await normstat.do("compare", *INCIDENT, "--baseline", "quiet days")
    lines = out.splitlines()
    assert lines[0].startswith("CPU 0 spent ")
    assert any(line.split()[:3] == ["1", "web1", "mpstat_linux.usr_pct@0"] for line in lines), out
    assert lines[-1] == (
        "1 series: 1 changed, 0 unchanged, 0 appeared, 0 disappeared,"
        " 0 with insufficient data, 0 muted; compared with baseline quiet days"
    )
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline", str(made.id), "--json")
    found = json.loads(out)
    assert (code, found["n_findings"], found["groups"][0]["field"], found["method_version"]) == (0, 1, "usr_pct", 10)
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline-from", FROM, "--baseline-to", MIDDLE, "--json")
    assert (code, json.loads(out)["against"]["kind"]) == (0, "window")
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline", "quiet days", "--ask", "USR")
    first, reason = out.splitlines()
    assert (code, first) == (0, "web1: CPU 0 %usr (mpstat): unusual")
    assert reason.startswith("  Median 9")
    # One sample on each side.
    second = f"{START + timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"
    last = f"{START + timedelta(seconds=N - 1):%Y-%m-%dT%H:%M:%SZ}"
    single = ("--host", "web1", "--from", last, "--to", TO, "--baseline-from", FROM, "--baseline-to", second)
    code, out, _ = await normstat("compare", *single)
    header, row = out.splitlines()[2:4]
    assert header.split() == ["host", "series", "baseline", "incident", "difference", "ratio"]
    assert row.split()[:5] == ["web1", "CPU", "0", "%usr", "(mpstat)"]
    assert "  +9" in row


async def test_the_ledger_follows_the_verdict(normstat: Commands, sessions: Sessions) -> None:
    rng = np.random.default_rng(5)
    seconds = np.arange(N)
    idle = np.where(seconds < N_NORMAL, 90.0, 10.0) + np.round(rng.uniform(-1, 1, N), 2)
    await fill_stat(sessions, "mpstat_linux", START, seconds, ("all",), idle_pct=idle, iowait_pct=0.0, usr_pct=100 - idle)
    moved = {key: 10 + np.round(rng.uniform(-1, 1, N), 2) for key in ("rxkb_per_s", "txkb_per_s")}
    await fill_stat(sessions, "sar_linux_net_dev", START, seconds, ("eth0",), values=moved)
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline-from", FROM, "--baseline-to", MIDDLE)
    lines = out.splitlines()
    assert code == 0
    # The verdict is the sentence of the CPU, and the ledger does not repeat it.
    assert "he CPUs were busy 90 % of the time (normally " in lines[0]
    assert lines[1].startswith("As normal: network eth0 "), out


async def test_a_report_is_written(sessions: Sessions, normstat: Commands, tmp_path: Path) -> None:
    """The file of a comparison without a browser."""
    await fill(sessions)
    incident = ("--host", HOSTILE, "--from", ASKED["start"], "--to", ASKED["end"])
    window = ("--baseline-from", ASKED["baseline_start"], "--baseline-to", ASKED["baseline_end"])
    page = tmp_path / "report.html"
    assert await normstat("report", *incident, *window, "--note", "by <hand>", "-o", page) == (0, "", "")
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "by &lt;hand&gt;" in text
    assert "<script" not in text
    out = await normstat.do("report", *incident, *window, "--format", "csv")
    first = next(csv.DictReader(io.StringIO(out, newline="")))
    assert (first["state"], first["field"]) == ("finding", "usr_pct")


def long_csv(path: Path, level: int, metrics: tuple[str, ...] = ("calm", "busy")) -> Path:
    lines = [
        f"2026-11-21T10:{second // 60:02d}:{second % 60:02d}Z,{metric},{(level if metric == 'busy' else 5) + second % 7}"
        for second in range(120)
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
