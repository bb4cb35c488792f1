"""`normstat jobs`: background work of all kinds."""

from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from normstat.cli.db_session import print_table, run_in_session
from normstat.db.schema.job_models import JobKind, JobState
from normstat.db.session import WriteSession
from normstat.jobs import job_list
from normstat.jobs.job_list import JobFilter, JobInfo
from normstat.runtime.readable import format_seconds

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List, stop and retry background jobs: docs/run.md.")

STOPPED_BY: Final = "stopped at the command line"
MAX_LISTED: Final = 50
MESSAGE_LENGTH: Final = 60


@app.callback()
def jobs() -> None:
    """List, stop and retry background jobs."""


@app.command(name="list")
def list_(
    kind: Annotated[JobKind | None, typer.Option(help="only jobs of this kind")] = None,
    state: Annotated[JobState | None, typer.Option(help="only jobs in this state")] = None,
    host: Annotated[str | None, typer.Option(help="only jobs of this host")] = None,
    limit: Annotated[int, typer.Option(help="maximum number of jobs", min=1)] = MAX_LISTED,
) -> None:
    """List jobs: queued and running ones first, then the latest."""

    async def read(session: WriteSession) -> list[JobInfo]:
        return await job_list.list_jobs(session, JobFilter(kind, state, host), limit)

    found = run_in_session(read)
    if not found:
        typer.echo("no jobs")
        return
    now = datetime.now(UTC)
    print_table(
        [
            ("job", "kind", "of", "state", "progress", "since", "message"),
            *(
                (
                    str(job.id),
                    job.kind,
                    describe_target(job),
                    job.state,
                    describe_progress(job),
                    describe_age(job, now),
                    _shorten(job.message),
                )
                for job in found
            ),
        ]
    )


@app.command()
def stop(job: Annotated[int, typer.Argument(help="number of the job")]) -> None:
    """Stop JOB, whether queued or running; completed work is kept."""

    async def work(session: WriteSession) -> JobInfo:
        return await job_list.stop_job(session, job, message=STOPPED_BY)

    typer.echo(f"job {run_in_session(work).id} is stopped")


@app.command()
def retry(job: Annotated[int, typer.Argument(help="number of the job")]) -> None:
    """Queue the failed or stopped JOB again; a running server picks it up."""

    async def work(session: WriteSession) -> JobInfo:
        return await job_list.retry_job(session, job)

    typer.echo(f"job {run_in_session(work).id} is queued")


def describe_target(job: JobInfo) -> str:
    """Return what the job works on."""
    return ", ".join(filter(None, (job.baseline, job.host, job.target))) or "-"


def describe_progress(job: JobInfo) -> str:
    """Return how much is done, such as `3 of 7 pieces`."""
    if not job.n_done and job.n_total is None:
        return "-"
    return f"{job.n_done:,} {job.unit}" if job.n_total is None else f"{job.n_done:,} of {job.n_total:,} {job.unit}"


def describe_age(job: JobInfo, now: datetime) -> str:
    """Return for how long the job has been in its state, such as `12 min`."""
    since = job.queued_at if job.state is JobState.QUEUED else job.finished_at or job.started_at or job.queued_at
    return format_seconds(now - since)


def _shorten(text: str) -> str:
    return text if len(text) <= MESSAGE_LENGTH else text[: MESSAGE_LENGTH - 3] + "..."
