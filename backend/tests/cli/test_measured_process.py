"""`normstat run`: what a command did is measured, its output kept and passed on, its end told as a shell tells it."""

from pathlib import Path

import pytest

from normstat.cli.measured_process import run_measured
from normstat.cli.run_target import ServerTarget, choose_target
from normstat.errors import BadRequest, NotAuthenticated


def test_outputs_are_kept_apart_and_passed_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    done = run_measured(["sh", "-c", "echo out; echo err >&2; exit 3"], tmp_path)
    assert done.exit_status == 3
    assert ((tmp_path / "stdout").read_bytes(), (tmp_path / "stderr").read_bytes()) == (b"out\n", b"err\n")
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("out\n", "err\n")
    values = {each.name: each for each in done.results}
    assert [(values[name].unit, values[name].value >= 0) for name in ("real", "user", "sys")] == [("s", True)] * 3
    assert done.end >= done.start


def test_times_of_children_count_and_a_signal_is_128_more(tmp_path: Path) -> None:
    done = run_measured(["sh", "-c", "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; kill -TERM $$"], tmp_path)
    assert done.exit_status == 128 + 15
    values = {each.name: each.value for each in done.results}
    assert values["user"] + values["sys"] > 0
    assert values["real"] > 0


def test_a_server_needs_an_address_and_a_token() -> None:
    with pytest.raises(BadRequest, match="expected http://HOST:PORT"):
        ServerTarget("file:///etc/passwd", "x")
    with pytest.raises(NotAuthenticated, match="NORMSTAT_API_TOKEN"):
        choose_target("http://127.0.0.1:1", None)
