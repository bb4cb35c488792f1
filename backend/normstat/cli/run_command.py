"""`normstat run`: runs a command as a run of an experiment, and keeps what it measured."""

import os
import shlex
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat.api.routes.experiment_schemas import MAX_COMMAND, RunCreate, RunValue
from normstat.cli.db_session import exit_with
from normstat.cli.measured_process import MeasuredProcess, run_measured
from normstat.cli.run_target import RunTarget, choose_target, now_text, output_draft
from normstat.errors import NormstatError
from normstat.experiments.measured_values import REAL, parse_factors, parse_result_pattern, read_patterns
from normstat.experiments.repeat_statistics import summarise
from normstat.ingest.imports.import_run import require_host_name
from normstat.runtime.body import check_body

app = typer.Typer(add_completion=False)

# normstat itself failed, as `docker run` and `timeout` say it.
OWN_FAILURE: Final = 125
NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127


@app.command(context_settings={"allow_interspersed_args": False})
def run(  # noqa: PLR0917 (options of a command, given by name)
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="what to run")],
    experiment: Annotated[str, typer.Option("--experiment", "-e", help="name of the experiment; made if needed")],
    factor: Annotated[list[str] | None, typer.Option("--factor", "-f", help="NAME=VALUE, such as threads=4; repeatable")] = None,
    repeat: Annotated[int, typer.Option("--repeat", "-n", min=1, max=1000, help="how many times; intervals need 2")] = 1,
    result: Annotated[
        list[str] | None,
        typer.Option("--result", "-r", help="NAME:UNIT=REGEX: a number that it prints; the last match, first group; repeatable"),
    ] = None,
    host: Annotated[str | None, typer.Option(help="this host's name; default: as `uname -n` says")] = None,
    server: Annotated[
        str | None, typer.Option(envvar="NORMSTAT_SERVER", help="address of the server; default: the local database")
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="NORMSTAT_API_TOKEN", show_envvar=True, help="API token; better in the environment")
    ] = None,
    note: Annotated[str, typer.Option(help="a note for each run")] = "",
    *,
    output: Annotated[bool, typer.Option("--output/--no-output", help="keep what it prints as artefacts of the host")] = True,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="repeat also after a run that fails")] = False,
) -> None:
    """Run a command as a run of an experiment: docs/artefacts.md. Its exit status is passed on; 125 if normstat itself fails."""
    try:
        patterns = [parse_result_pattern(text) for text in result or []]
        asked = {
            "experiment": experiment,
            "host": host or os.uname().nodename,
            "factors": parse_factors(factor or []),
            "note": note,
        }
        asked["command"] = shlex.join(command)[:MAX_COMMAND]
        check_body(RunCreate, asked | {"start": 0})
        require_host_name(str(asked["host"]))
        target = choose_target(server, token)
        target.check()
    except NormstatError as error:
        exit_with(error)
        raise typer.Exit(OWN_FAILURE) from None
    except typer.Exit:
        raise typer.Exit(OWN_FAILURE) from None
    status = 0
    times: list[float] = []
    where = ""
    for number in range(1, repeat + 1):
        with tempfile.TemporaryDirectory(prefix="normstat-run-") as folder:
            done = _run_once(command, Path(folder))
            values, problems = read_patterns(patterns, _read_texts(Path(folder)))
            results = [RunValue(name=each.name, value=each.value, unit=each.unit) for each in (*done.results, *values)]
            made = check_body(
                RunCreate, asked | {"start": done.start, "end": done.end, "exit_status": done.exit_status, "results": results}
            )
            _say_run(done, number, repeat, problems)
            where = _keep(target, made, Path(folder), done, keeps_output=output)
        if done.exit_status == 0:
            times.append(done.results[0].value)
        status = status or done.exit_status
        if status and not keep_going:
            break
    _say_end(experiment, times, where)
    raise typer.Exit(status)


def _run_once(command: list[str], folder: Path) -> MeasuredProcess:
    try:
        return run_measured(command, folder)
    except FileNotFoundError:
        typer.echo(f"normstat: there is no command {command[0]}", err=True)
        raise typer.Exit(NOT_FOUND) from None
    except OSError as error:
        typer.echo(f"normstat: {command[0]} cannot be run: {error.strerror}", err=True)
        raise typer.Exit(NOT_EXECUTABLE) from None


def _read_texts(folder: Path) -> str:
    return "\n".join((folder / name).read_bytes().decode("utf-8", "replace") for name in ("stdout", "stderr"))


def _keep(target: RunTarget, run: RunCreate, folder: Path, done: MeasuredProcess, *, keeps_output: bool) -> str:
    """Keep a run; where that fails write it to a file, so that it is not lost."""
    try:
        ids = []
        for name in ("stdout", "stderr"):
            path = folder / name
            if keeps_output and path.stat().st_size:
                ids.append(target.keep_output(path, output_draft(run, name, done.results[0].value)))
        return target.keep_run(run.model_copy(update={"artefacts": ids}))
    except (NormstatError, typer.Exit) as error:
        if isinstance(error, NormstatError):
            typer.echo(f"normstat: {error.message}", err=True)
        path = Path(f"normstat-run-{now_text()}.json").absolute()
        path.write_text(run.model_dump_json(indent=1) + "\n", encoding="utf-8")
        typer.echo(f"normstat: the run is in {path}, without its output; `normstat experiment add {path.name}` adds it", err=True)
        raise typer.Exit(done.exit_status or OWN_FAILURE) from None


def _say_run(done: MeasuredProcess, number: int, repeat: int, problems: list[str]) -> None:
    times = ", ".join(f"{each.name} {each.value:.3f} s" for each in done.results if each.unit == "s")
    of = f" {number} of {repeat}" if repeat > 1 else ""
    end = "" if done.exit_status == 0 else f"; it failed with exit status {done.exit_status} and does not count"
    typer.echo(f"normstat: run{of}: {times}{end}", err=True)
    for problem in problems:
        typer.echo(f"normstat: {problem}", err=True)
    if done.n_cut:
        typer.echo(f"normstat: the last {done.n_cut:,} bytes of its output are not kept", err=True)


def _say_end(experiment: str, times: list[float], where: str) -> None:
    mean = ""
    if len(times) > 1:
        found = summarise(times)
        mean = f": {REAL} {found.mean:.3f} s, 95 % interval {found.low:.3f} to {found.high:.3f} s of {found.n} runs"
    typer.echo(f"normstat: experiment {experiment}{mean}; {where}", err=True)
