"""A section of a bundle: a named kind of content that is written here and opened elsewhere.

To add one, write a class with this shape and put it into `bundle_service.SECTIONS`; a normstat that does not know it leaves it out
and reports that.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.bundles.bundle_format import BundleManifest, BundleMember, BundleSection
from normstat.bundles.bundle_reader import BundleFile
from normstat.bundles.bundle_writer import BundleWriter
from normstat.bundles.reference_map import ReferenceMap
from normstat.ingest.import_rows import ImportedFile
from normstat.report.report_rows import ReportInfo
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class NamedThings:
    """Ids that reports and comparisons of a bundle refer to. What belongs to the host goes into the bundle, whatever its time."""

    artefacts: frozenset[int] = frozenset()
    comparisons: frozenset[int] = frozenset()
    experiments: frozenset[int] = frozenset()
    baselines: frozenset[int] = frozenset()


@dataclass(slots=True)
class BundleSource:
    """Where a bundle is made: a session that sees one state of the database, the host, and the windows that go into it."""

    session: AsyncSession
    writer: BundleWriter
    server_id: str
    host: str
    host_id: int
    windows: Sequence[Window]
    baselines: Sequence[str]
    reports: Sequence[ReportInfo] = ()
    named: NamedThings = NamedThings()
    # What a section adds: the members, counts, notes and index of its manifest entry.
    members: list[BundleMember] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    index: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class BundleTarget:
    """Where a bundle is opened: the database, the host's name here, and who opens it.

    `told` is called with one result for each loaded thing, `moved` with the number of bytes done.
    """

    engine: AsyncEngine
    sessions: async_sessionmaker[AsyncSession]
    bundle: BundleFile
    host: str
    opened_by: str
    told: Callable[[ImportedFile], None]
    # Ids and names that the other server's things have here; sections add what they load.
    references: ReferenceMap
    # Names of accounts and agent tokens here, except that of the account that opens it.
    names_here: frozenset[str] = frozenset()
    # Ids of streams here, by the origin of the stream.
    stream_ids: dict[str, list[int]] = field(default_factory=dict)

    @property
    def manifest(self) -> BundleManifest:
        """The bundle's manifest."""
        return self.bundle.manifest

    @property
    def provenance(self) -> str:
        """Where its content comes from, as text."""
        return f"from bundle {self.manifest.id[:8]} of {self.manifest.server}"

    def author_of(self, name: str) -> str:
        """Return the author's name, marked if an account or token here has the same one: they are different authors, and what the
        other one made does not count against the budgets here (db/row_budgets.py).
        """
        return f"{name} (bundle)" if name in self.names_here else name


class SectionCodec(Protocol):
    """A kind of content. `version` grows when the format of its members changes."""

    name: str
    version: int

    def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write its members, and yield now and then, so that what is written can be sent."""
        ...

    def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Load its members, and yield the number of bytes done. Loading twice changes nothing."""
        ...


def section_result(path: str, counts: str, note: str = "", *, n: int = 0, n_new: int = 0) -> ImportedFile:
    """Return the row of the result table for something other than a stream."""
    return ImportedFile(
        path=path, spec=counts, stats=[], n_reports=0, n_samples=n, n_samples_new=n_new, n_rejected=0, reasons=[],
        first_sample_at=None, last_sample_at=None, note=note, n_since_boot=0,
        missing=[], position=0, stream_id=None, is_undone=False,
    )  # fmt: skip
