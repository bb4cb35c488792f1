"""`normstat run`: what a command did is measured, its output kept and passed on, its end told as a shell tells it."""

from datetime import UTC, datetime
from pathlib import Path

import anyio.to_thread
import pytest

from normstat.api.routes.experiment_schemas import RunCreate
from normstat.artefacts.artefact_service import ArtefactDraft
from normstat.auth.account_rows import add_user
from normstat.auth.accounts import create_api_token
from normstat.auth.roles import Role
from normstat.cli.measured_process import run_measured
from normstat.cli.run_target import ServerTarget, choose_target
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, NotAuthenticated
from normstat.experiments.experiment_rows import list_experiments
from normstat.records.artefact_rows import ArtefactSource
from tests.api.people import ROOT
from tests.api.server import serving
from tests.databases import Sessions, on_either_database

START = datetime(2026, 11, 29, tzinfo=UTC)


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


@on_either_database
async def test_a_run_is_kept_by_a_server(sessions: Sessions, database_url: str, tmp_path: Path) -> None:
    async with open_write_session(sessions) as session:
        await add_user(session, name="root", role=Role.ADMINISTRATOR, password_hash=None)
        tokens = [(await create_api_token(session, ROOT, name=role, role=role))[0] for role in (Role.OPERATOR, Role.VIEWER)]
    output = tmp_path / "out"
    output.write_bytes(b"real 1.5\nuser 1.0\nsys 0.5\n")

    def keep(address: str) -> str:
        target = ServerTarget(f"{address}/", tokens[0])
        target.check()
        made = target.keep_output(output, ArtefactDraft("web1", ArtefactSource.CLI, "", START, command="time make"))
        run = RunCreate(experiment="build", host="web1", start=START, command="time make", exit_status=0, artefacts=[made])
        with pytest.raises(NotAuthenticated, match="requires the role operator"):
            ServerTarget(address, tokens[1]).check()
        return target.keep_run(run)

    with serving(database_url, tmp_path / "log") as (address, _):
        where = await anyio.to_thread.run_sync(keep, address)
    async with open_read_session(sessions) as reading:
        [experiment] = (await list_experiments(reading, [], limit=10, offset=0)).experiments
    assert (experiment.name, where) == ("build", f"{address}/experiments/{experiment.id}")
