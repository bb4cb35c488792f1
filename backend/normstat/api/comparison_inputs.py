"""What a comparison is asked with: the same for an answer, for a report, and for one that is kept."""

from datetime import datetime
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlencode

from pydantic import Field, StringConstraints

from normstat.api.instants import Instant
from normstat.api.schemas import NO_NUL, Body, Name, Note
from normstat.errors import BadRequest

MAX_HOSTS: Final = 200
MAX_GROUPS: Final = 1000
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Divisor = Annotated[str, StringConstraints(min_length=3, max_length=1000, pattern=NO_NUL)]
Hosts = Annotated[list[Name], Field(min_length=1, max_length=MAX_HOSTS, description="names of the hosts")]
AGAINST: Final = "exactly one of `baseline`, `baseline_start` with `baseline_end`, `ago` and `other_host`"


class AgainstInputs(Body):
    """What an incident is compared with, and how."""

    baseline: Annotated[Id | None, Field(description="id of a baseline")] = None
    version: Annotated[Id | None, Field(description="of the baseline; left out: the newest")] = None
    baseline_start: Annotated[Instant | None, Field(description="instead of a baseline: its first instant")] = None
    baseline_end: Annotated[Instant | None, Field(description="instead of a baseline: the first instant after it")] = None
    ago: Annotated[Literal["day", "week"] | None, Field(description="instead of a baseline: the same time, so long ago")] = None
    other_host: Annotated[Name | None, Field(description="instead of a baseline: another host in the same window")] = None
    divisor: Annotated[Divisor | None, Field(description="a series that all are divided by: stat.field or stat.field@instance")] = (
        None
    )
    limit: Annotated[int, Field(ge=1, le=MAX_GROUPS, description="most groups in the answer; all are counted")] = 200


class ComparisonInputs(AgainstInputs):
    """Hosts and window of the incident, and what they are compared with: just one of a baseline, another window, the same
    time earlier, another host."""

    host: Hosts
    start: Annotated[Instant, Field(description="first instant of the incident")]
    end: Annotated[Instant, Field(description="first instant after the incident")]

    def require_against(self) -> None:
        """Just one thing to compare with.

        Raises: BadRequest
        """
        window = (self.baseline_start, self.baseline_end)
        given = [self.baseline is not None, any(window), self.ago is not None, self.other_host is not None]
        if sum(given) != 1 or (any(window) and not all(window)):
            raise BadRequest(f"Give {AGAINST}")
        if self.version is not None and self.baseline is None:
            raise BadRequest("`version` is that of a baseline: give `baseline` with it")

    def pinned(self, version: int | None) -> Self:
        """Return the same with the version of the baseline that was used: the newest one may be another tomorrow."""
        return self if self.baseline is None else self.model_copy(update={"version": version})

    def to_parameters(self) -> dict[str, str | int | list[str]]:
        """Return what was given, as parameters of GET /comparison."""
        return {
            name: _iso(value) if isinstance(value, datetime) else value
            for name, value in self.model_dump(exclude_none=True, exclude={"limit"}).items()
        }

    def page_address(self, public_url: str) -> str:
        """Return where the page shows this comparison."""
        asked = self.to_parameters()
        incident = f"{asked.pop('start')}/{asked.pop('end')}"
        if self.baseline_start is not None:
            asked["normal"] = f"{asked.pop('baseline_start')}/{asked.pop('baseline_end')}"
        if self.other_host is not None:
            asked["other"] = asked.pop("other_host")
        return f"{public_url.rstrip('/')}/comparison?{urlencode({**asked, 'incident': incident}, doseq=True)}"


class ReportInputs(AgainstInputs):
    """The parameters of GET /comparison, or `comparison`: one that was kept."""

    host: Hosts | None = None
    start: Annotated[Instant | None, Field(description="first instant of the incident")] = None
    end: Annotated[Instant | None, Field(description="first instant after the incident")] = None
    comparison: Annotated[Id | None, Field(description="id of a kept comparison, instead of all others")] = None
    note: Annotated[Note, Field(description="stands in the report; left out: that of the kept comparison")] = ""

    def to_inputs(self) -> ComparisonInputs:
        """Return what is to be compared.

        Raises: BadRequest where something is missing
        """
        if self.host is None or self.start is None or self.end is None:
            raise BadRequest("Give `host`, `start` and `end`, or `comparison`: the id of one that was kept")
        return ComparisonInputs.model_validate(self.model_dump(exclude={"comparison", "note"}))


def _iso(at: datetime) -> str:
    """With Z, and digits behind the point only where there are some."""
    return at.isoformat().replace("+00:00", "Z")
