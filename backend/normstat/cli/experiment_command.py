"""`normstat experiment`: lists experiments, shows what one says, adds runs from files."""

import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from normstat.api.routes.experiment_schemas import RunCreate
from normstat.cli.db_session import exit_with, format_instant, print_table, run_in_session, to_printable
from normstat.cli.run_target import choose_target
from normstat.db.session import WriteSession
from normstat.errors import BadRequest, NormstatError
from normstat.experiments import experiment_rows
from normstat.experiments.experiment_analysis import (
    AnalysisRequest,
    ExperimentAnalysis,
    RunLevel,
    VariantScaling,
    analyse_runs,
)
from normstat.experiments.experiment_rows import ExperimentPage
from normstat.experiments.run_facts import describe_run, facts_of
from normstat.experiments.scaling_fits import ScalingFit
from normstat.runtime.readable import count_of

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List experiments and what they say: docs/artefacts.md.")


@app.callback()
def experiment() -> None:
    """List experiments and what they say, add runs."""


@app.command(name="list")
def list_() -> None:
    """List experiments, the one with the newest run first."""

    async def read(session: WriteSession) -> ExperimentPage:
        return await experiment_rows.list_experiments(session, [], limit=500, offset=0)

    page = run_in_session(read)
    if not page.experiments:
        typer.echo("No experiments. `normstat run --experiment NAME --factor threads=1 -- COMMAND` makes one.")
        return
    print_table([
        ("no", "name", "runs", "last run", "factors", "hosts"),
        *(
            (
                str(each.id), each.name, str(each.n_runs), "-" if each.last is None else format_instant(each.last),
                " ".join(each.factors), " ".join(each.hosts),
            )
            for each in page.experiments
        ),
    ])  # fmt: skip


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="name or number of the experiment")],
    *,
    result: Annotated[str | None, typer.Option(help="the result; default: real")] = None,
    factor: Annotated[str | None, typer.Option(help="the factor; default: the number with most levels")] = None,
    variant: Annotated[
        str | None, typer.Option(help='a second factor, a block for each of its values; default: all that differ; "": none')
    ] = None,
    reference: Annotated[str | None, typer.Option(help="the level that speed-ups are relative to; default: the first")] = None,
    work_grows: Annotated[bool, typer.Option("--work-grows", help="each level does as much work again")] = False,
) -> None:
    """Show means with 95 % intervals, speed-up, efficiency and what limits it."""

    async def read(session: WriteSession) -> ExperimentAnalysis:
        found = await experiment_rows.find_experiment(session, name)
        runs = [facts_of(describe_run(run)) for run in await experiment_rows.list_runs(session, found.id)]
        asked = AnalysisRequest(result, factor, variant, reference, work="grows" if work_grows else "fixed")
        return analyse_runs(runs, asked)

    analysis = run_in_session(read)
    if analysis.result is None:
        typer.echo("Its runs have no results.")
        return
    unit = analysis.result.unit
    title = f"{analysis.result.name} ({unit})" if unit else analysis.result.name
    header = ("" if analysis.variant is None else analysis.variant.name, "" if analysis.factor is None else analysis.factor.name)
    print_table([(*header, "runs", title, "95 % interval", "speed-up", "efficiency"), *map(_to_cells, analysis.levels)])
    for scaling in analysis.scaling:
        for sentence in describe_scaling(scaling, "" if analysis.factor is None else analysis.factor.name):
            typer.echo(sentence)
    for step in analysis.steps:
        typer.echo(to_printable(step.sentence))
    if analysis.left_out:
        typer.echo(f"{count_of(len(analysis.left_out), 'run')} left out:")
        for each in analysis.left_out:
            typer.echo(f"  run {each.run}: {each.reason}")


@app.command()
def add(
    file: Annotated[Path, typer.Argument(help="a run as JSON, as POST /experiments/runs takes it", exists=True, dir_okay=False)],
    *,
    server: Annotated[str | None, typer.Option(envvar="NORMSTAT_SERVER", help="address of the server")] = None,
    token: Annotated[str | None, typer.Option(envvar="NORMSTAT_API_TOKEN", help="API token")] = None,
) -> None:
    """Add a run from a file, such as `normstat run` leaves when the server is away."""
    try:
        run = RunCreate.model_validate(json.loads(file.read_bytes()))
        typer.echo(f"Added to experiment {run.experiment}: {choose_target(server, token).keep_run(run)}")
    except (ValidationError, ValueError) as error:
        raise exit_with(BadRequest(f"{file} is not a run: {str(error).splitlines()[0]}")) from None
    except NormstatError as error:
        raise exit_with(error) from error


def describe_scaling(scaling: VariantScaling, factor: str) -> list[str]:
    """Return what the models of one variant say, the best one first."""
    prefix = f"{scaling.variant}: " if scaling.variant else ""
    fits = sorted((each.fit for each in scaling.curves), key=lambda fit: fit.model != scaling.best)
    found = [f"{prefix}{_describe_fit(fit, factor)}" for fit in fits]
    return [*found, *(f"{prefix}{each.reason}" for each in scaling.refusals)]


def _describe_fit(fit: ScalingFit, factor: str) -> str:
    r2 = "" if fit.r2 is None else f" (R2 {fit.r2:.3f})"
    last = max(each.x for each in fit.residuals)
    limit = "" if fit.max_speedup is None else f"at most {fit.max_speedup:.1f} times faster than {factor}=1"
    match fit.model:
        case "bottleneck":
            seen = (
                f"full from {factor}={fit.peak_x:.3g} on; {limit}" if fit.peak_x is not None else f"nothing is full up to {last:g}"
            )
            return f"bottleneck: {seen}{r2}"
        case "amdahl":
            return f"Amdahl: {100 * fit.parameter('alpha'):.1f} % serial; {limit or 'no limit seen'}{r2}"
        case "usl":
            peak = f"slower beyond {factor}={fit.peak_x:.3g}" if fit.peak_x is not None else "no peak"
            return f"USL: contention {fit.parameter('alpha'):.4g}, coherency {fit.parameter('beta'):.3g}; {peak}; {limit}{r2}"
        case "power":
            return f"power law: {factor} to the power {fit.parameter('slope'):.2f}{r2}"


def _to_cells(level: RunLevel) -> tuple[str, ...]:
    mean = level.result
    interval = "- (one run)" if mean.low is None or mean.high is None else f"{mean.low:.4g} to {mean.high:.4g}"
    speedup = "-" if level.speedup is None else f"{level.speedup.value:.2f}"
    efficiency = "-" if level.efficiency is None else f"{100 * level.efficiency.value:.0f} %"
    return (level.variant, level.level, str(mean.n), f"{mean.mean:.4g}", interval, speedup, efficiency)
