"""The bodies of retention, deletions of hosts and storage."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from normstat.api.schemas import NO_NUL, Body
from normstat.retention.retention_rules import MAX_DAYS
from normstat.storage.hypertables import Storage
from normstat.storage.schema.job_models import JobState

StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
Days = Annotated[int, Field(ge=1, le=MAX_DAYS)]


class RetentionRulePut(Body):
    """For how many days the samples and the raw bytes of a stat are kept (null: for ever); stat null: all that have no rule."""

    stat: StatName | None
    samples_days: Days | None
    chunks_days: Days | None


class RetentionPut(Body):
    """All rules; without any, everything is kept for ever."""

    rules: Annotated[list[RetentionRulePut], Field(max_length=1000)]


class RetentionRule(Body):
    """A rule, and who changed it last."""

    stat: str | None
    samples_days: int | None
    chunks_days: int | None
    updated_by: str
    updated_at: datetime


class RetentionRun(Body):
    """One application of the rules, at night or on request, and what it removed.

    `n_chunk_bytes` counts raw bytes as the hosts sent them; `message` says why it failed.
    """

    id: int
    job_id: int
    state: JobState
    message: str
    n_samples: int
    n_instances: int
    n_chunks: int
    n_chunk_bytes: int
    created_by: str
    created_at: datetime
    finished_at: datetime | None


class Retention(Body):
    """The rules, that for all others first, and the newest runs, the newest first."""

    rules: list[RetentionRule]
    runs: list[RetentionRun]


class HostDeletion(Body):
    """A host that is being deleted, or was; `n_samples` are deleted so far."""

    job_id: int
    host: str
    state: JobState
    message: str
    n_samples: int
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None


class HostDeletionList(Body):
    """The newest deletions of hosts, the newest first."""

    deletions: list[HostDeletion]


class DiskInfo(Body):
    """The file system of the database; null when it is not on the server's machine."""

    free_bytes: int | None
    total_bytes: int | None


class StoragePart(Body):
    """What one sort of data takes on disk: samples, chunks (raw bytes), rollups, other."""

    part: str
    bytes: int


class StatStorage(Body):
    """What the samples of a stat take on disk; `n_samples` and `n_values` are estimates."""

    stat: str
    table_bytes: int
    index_bytes: int
    n_samples: int
    n_values: int
    bytes_per_value: float | None
    bytes_per_day: float | None


class HostStorage(Body):
    """What is kept of a host; bytes and samples are estimates."""

    host: str
    sample_bytes: int
    chunk_bytes: int
    n_samples: int
    bytes_per_day: float | None
    first_sample_at: datetime | None
    last_sample_at: datetime | None


class StorageInfo(Body):
    """What the database takes on disk, measured at most once a minute.

    Growth is that of the last week (null: not known yet), and `days_until_full` what it means for the free space (null: the disk is
    not known, or the database does not grow).
    """

    kind: Storage
    measured_at: datetime
    database_bytes: int
    disk: DiskInfo
    growth_bytes_per_day: float | None
    days_until_full: float | None
    parts: list[StoragePart]
    stats: list[StatStorage]
    hosts: list[HostStorage]
