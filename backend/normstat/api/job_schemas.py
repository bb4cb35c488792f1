"""The bodies of background jobs."""

from datetime import datetime

from normstat.api.schemas import Body
from normstat.storage.schema.job_models import JobKind, JobState


class Job(Body):
    """A background job. `host` and `baseline` name what it works on, `target` what else there is to say of that.

    `n_done` of `n_total` are done, counted in `unit`; `n_total` is null while it is unknown. `message` says why it failed or was
    stopped. `started_at` is when its latest try began, `n_tries` how many there were; a failed job with `next_try_at` runs again
    then.
    """

    id: int
    kind: JobKind
    host: str | None
    baseline: str | None
    target: str
    state: JobState
    n_done: int
    n_total: int | None
    unit: str
    message: str
    n_tries: int
    asked_by: str
    queued_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None
    next_try_at: datetime | None


class JobList(Body):
    """Jobs: those that are queued or run first, then the latest; at most 500."""

    jobs: list[Job]
