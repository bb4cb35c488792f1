"""The bodies of imports: uploaded files, and the result of each file in them."""

from datetime import datetime

from normstat.api.schemas import Body
from normstat.storage.schema.job_models import JobState


class ReasonTotal(Body):
    """Why lines were rejected. `n` counts those whose texts are kept: at most 1000 of a reason and stream."""

    reason: str
    n: int


class ImportedFile(Body):
    """What became of a file. `spec` is null where it was not loaded; `note` says why, or what else is to be known of it.

    `n_samples` are there now, `n_samples_new` of them by this import; `n_reports` counts the instants of the stat with the most.
    """

    path: str
    spec: str | None
    stats: list[str]
    n_reports: int
    n_samples: int
    n_samples_new: int
    n_rejected: int
    reasons: list[ReasonTotal]
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    note: str


class Import(Body):
    """A file that was handed over. `n_bytes` is its size until it is unpacked, then what is to be loaded of it.

    `n_files` are done; `files` may be fewer: those that were loaded first, and at most 200 in a list of imports, 5000 in one alone.
    """

    id: int
    job_id: int
    host: str
    name: str
    state: JobState
    message: str
    n_bytes: int
    n_bytes_done: int
    created_at: datetime
    created_by: str
    finished_at: datetime | None
    files: list[ImportedFile]
    n_files: int


class ImportList(Body):
    """Imports, the newest first; at most 200."""

    imports: list[Import]
