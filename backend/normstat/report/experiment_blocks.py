"""An experiment as blocks of a report: the sentence that matters, the chart, the means of its levels, and its runs."""

from collections.abc import Sequence
from typing import Final

from normstat.experiments.experiment_analysis import AnalysisRequest, ExperimentAnalysis, RunLevel, analyse_runs
from normstat.experiments.experiment_rows import Experiment
from normstat.experiments.run_facts import ExperimentRun, facts_of, format_runs_csv
from normstat.experiments.verdict_sentences import extreme_of, lead_of
from normstat.report.blocks import Block, BlockColumn, FigureBlock, SaidBlock, TableBlock
from normstat.report.note_models import ExperimentNote
from normstat.report.scaling_svg import draw_scaling
from normstat.runtime.readable import MISSING, count_of, format_instant, format_number, format_times

MAX_LEVELS: Final = 60
MAX_RESULTS: Final = 3
MAX_FACTORS: Final = 4


def experiment_blocks(experiment: Experiment, runs: Sequence[ExperimentRun], note: ExperimentNote) -> list[Block]:
    """Return what the runs say.

    Raises: BadRequest for a result, factor or variant that they do not have
    """
    asked = AnalysisRequest(note.result, note.factor, note.variant, work=note.work)
    analysis = analyse_runs([facts_of(run) for run in runs], asked)
    name = experiment.title or experiment.name
    blocks: list[Block] = []
    sentences = [lead_of(analysis, scaling) for scaling in analysis.scaling] or [(extreme_of(analysis), "")]
    for sentence, detail in sentences:
        if sentence:
            blocks.append(SaidBlock(sentence, "lead"))
        if detail:
            blocks.append(SaidBlock(detail, "soft"))
    blocks.append(SaidBlock(_about(experiment, analysis), "soft"))
    if analysis.result is None:
        return [*blocks, SaidBlock("Its runs have no results yet.", "warning")]
    title = f"{name}: {analysis.result.name}" + ("" if analysis.factor is None else f" by {analysis.factor.name}")
    csv_name = f"experiment-{experiment.id}.csv"
    blocks.append(FigureBlock(str(draw_scaling(analysis, title)), title, format_runs_csv(runs), csv_name))
    blocks.append(_level_table(analysis))
    if note.limit:
        blocks.append(_run_table(runs, analysis, note.limit))
    return blocks


def _about(experiment: Experiment, analysis: ExperimentAnalysis) -> str:
    when = "" if experiment.first is None else f", first run {format_instant(experiment.first)}"
    hosts = f" on {', '.join(experiment.hosts[:5])}" if experiment.hosts else ""
    left = f"; {count_of(len(analysis.left_out), 'run')} left out" if analysis.left_out else ""
    return f"Experiment {experiment.name}: {count_of(experiment.n_runs, 'run')}{hosts}{when}{left}."


def _level_table(analysis: ExperimentAnalysis) -> TableBlock:
    result = analysis.result
    unit = "" if result is None or not result.unit else f" ({result.unit})"
    variant = [] if analysis.variant is None else [BlockColumn(analysis.variant.name)]
    factor = [] if analysis.factor is None else [BlockColumn(analysis.factor.name)]
    columns = [
        *variant, *factor, BlockColumn("runs", is_number=True), BlockColumn(f"mean{unit}", is_number=True),
        BlockColumn("95 % interval", is_number=True, share=1.6), BlockColumn("speed-up", is_number=True),
        BlockColumn("efficiency", is_number=True),
    ]  # fmt: skip
    shown = analysis.levels[:MAX_LEVELS]
    rows = [[*([level.variant] if variant else []), *([level.level] if factor else []), *_numbers_of(level)] for level in shown]
    left = len(analysis.levels) - len(shown)
    more = f" {count_of(left, 'more level')} on the experiment's page." if left > 0 else ""
    return TableBlock(columns, rows, f"Means of the repeats.{more}")


def _numbers_of(level: RunLevel) -> list[str]:
    mean = level.result
    interval = "one run" if mean.low is None or mean.high is None else f"{format_number(mean.low)} to {format_number(mean.high)}"
    return [
        str(mean.n), format_number(mean.mean), interval, MISSING if level.speedup is None else format_times(level.speedup.value),
        MISSING if level.efficiency is None else f"{100 * level.efficiency.value:.0f} %",
    ]  # fmt: skip


def _run_table(runs: Sequence[ExperimentRun], analysis: ExperimentAnalysis, limit: int) -> TableBlock:
    factors = [factor.name for factor in analysis.factors][:MAX_FACTORS]
    chosen = None if analysis.result is None else analysis.result.name
    results = sorted(analysis.results, key=lambda each: each.name != chosen)[:MAX_RESULTS]
    columns = [
        BlockColumn("run", is_number=True, share=0.5), BlockColumn("started", share=1.7), BlockColumn("host"),
        *(BlockColumn(name) for name in factors),
        *(BlockColumn(f"{each.name} ({each.unit})" if each.unit else each.name, is_number=True) for each in results),
        BlockColumn("left out", share=1.2),
    ]  # fmt: skip
    rows = []
    for run in runs[:limit]:
        values = {each.name: each.value for each in run.results}
        start = format_instant(run.start.replace(microsecond=0))
        rows.append([
            str(run.id), start, run.host, *(run.factors.get(name, "") for name in factors),
            *(format_number(values.get(each.name)) for each in results), run.left_out,
        ])  # fmt: skip
    left = len(runs) - len(rows)
    hidden = max(0, len(analysis.results) - len(results)) + max(0, len(analysis.factors) - len(factors))
    said = f"The first {len(rows):,} of {count_of(len(runs), 'run')}." if left > 0 else f"{count_of(len(runs), 'run')}."
    more = f" {count_of(hidden, 'more column')} in the CSV." if hidden else ""
    return TableBlock(columns, rows, f"{said}{more}")
