"""The bodies of experiments and their runs."""

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from normstat.experiments.experiment_rows import Experiment
from normstat.experiments.run_facts import ExperimentRun
from normstat.runtime.body import NO_NUL, Body, Instant, Name, Note

MAX_COMMAND: Final = 20_000
# No equals sign, so that factors can be written NAME=VALUE.
FactorName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f=]+$")]
FactorValue = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=NO_NUL)]
Factors = Annotated[dict[FactorName, FactorValue], Field(max_length=20)]
Title = Annotated[str, StringConstraints(max_length=300, pattern=NO_NUL)]
Command = Annotated[str, StringConstraints(max_length=MAX_COMMAND, pattern=NO_NUL)]
ArtefactIds = Annotated[list[Annotated[int, Field(ge=1, le=2**63 - 1)]], Field(max_length=50)]
ExitStatus = Annotated[int | None, Field(ge=0, le=255)]


class RunValue(Body):
    """A result of a run; the unit is empty for a plain count."""

    name: FactorName
    value: Annotated[float, Field(allow_inf_nan=False)]
    unit: Annotated[str, StringConstraints(strip_whitespace=True, max_length=40, pattern=NO_NUL)] = ""


RunValues = Annotated[list[RunValue], Field(max_length=200)]


class ExperimentCreate(Body):
    """A new experiment, without runs."""

    name: Name
    title: Title = ""
    note: Note = ""


class ExperimentUpdate(Body):
    """The changeable members of an experiment."""

    name: Name
    title: Title
    note: Note


class ExperimentDetails(Body):
    """An experiment and its runs, oldest first."""

    experiment: Experiment
    runs: list[ExperimentRun]


class RunCreate(Body):
    """A new run of the experiment of that name, which is made if needed; so is the host.

    `end` null: unknown. `artefacts`: ids of what the run printed; with `reads_artefacts` the results that known tools (IOzone, perf
    stat, time) printed into them are added.
    """

    experiment: Name
    host: Name
    start: Instant
    end: Instant | None = None
    factors: Factors = Field(default_factory=dict)
    command: Command = ""
    exit_status: ExitStatus = None
    note: Note = ""
    results: RunValues = Field(default_factory=list)
    artefacts: ArtefactIds = Field(default_factory=list)
    reads_artefacts: bool = True
    source: Annotated[str, Field(pattern="^(cli|api|page)$")] = "api"


class RunReport(Body):
    """A run that an agent's token reports; a token for any host needs `host`.

    `real`, `user` and `sys` are seconds, as time(1) prints them.
    """

    experiment: Name
    host: Name | None = None
    start: Instant
    end: Instant | None = None
    factors: Factors = Field(default_factory=dict)
    command: Command = ""
    exit_status: ExitStatus = None
    note: Note = ""
    real: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    user: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    sys: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    results: RunValues = Field(default_factory=list)


class RunUpdate(Body):
    """The changeable members of a run. `excluded_reason`: why it does not count, empty if it does.

    `results` and `artefacts` null: they stay. Results that follow from others are not sent.
    """

    factors: Factors
    note: Note
    excluded_reason: Title
    results: RunValues | None = None
    artefacts: ArtefactIds | None = None


class ArtefactRunsCreate(Body):
    """Create runs from an artefact of IOzone or time(1); each gets `factors` too."""

    experiment: Name
    artefact: Annotated[int, Field(ge=1, le=2**63 - 1)]
    factors: Factors = Field(default_factory=dict)
