"""The client. A test holds every request that it makes against the server's OpenAPI document."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from normstat_client.table import Table, read_csv

if TYPE_CHECKING:
    import pandas as pd

    from normstat_client.models import BaselineInfo, Comparison, HostEvent, HostInfo, StatInfo

# An instant: with a zone, or text in ISO 8601 with one.
Instant = datetime | str
Query = Mapping[str, object]

# What the methods below ask for: method, path and the names of parameters, or of members of the body.
OPERATIONS = {
    "listHosts": ("GET", "/hosts", ()),
    "listStats": ("GET", "/stats", ("host",)),
    "exportCsv": ("GET", "/export.csv", ("host", "stat", "field", "start", "end")),
    "compare": ("GET", "/comparison", ("host", "start", "end", "baseline", "baseline_start", "baseline_end", "ago", "limit")),
    "listBaselines": ("GET", "/baselines", ("host", "archived")),
    "createBaseline": ("POST", "/baselines", ("name", "note", "hosts", "windows")),
    "deleteBaseline": ("DELETE", "/baselines/{id}", ()),
    "listEvents": ("GET", "/events", ("host", "limit", "start", "end", "kind", "tag", "search")),
    "createEvent": ("POST", "/events", ("text", "kind", "at", "end", "tags", "hosts")),
}


class NormstatError(Exception):
    """An error that the server told. `code` is for programs, `request_id` finds it in the server's log."""

    def __init__(self, status: int, code: str, message: str, request_id: str) -> None:
        super().__init__(f"{message} ({code}, {status})")
        self.status = status
        self.code = code
        self.request_id = request_id


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


class Client:
    """A normstat server, by its address and an API token (page *Accounts*).

    `ca_file`: the certificate authority of a server whose certificate is not publicly trusted
    """

    def __init__(self, url: str, token: str, *, timeout_s: float = 60.0, ca_file: str | None = None) -> None:
        import ssl  # noqa: PLC0415 (not everybody uses TLS)

        self._base = url.rstrip("/") + "/api/v1"
        self._token = token
        self._timeout_s = timeout_s
        context = ssl.create_default_context(cafile=ca_file)
        self._opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))

    def hosts(self) -> "list[HostInfo]":
        """Return all hosts."""
        return cast("list[HostInfo]", self._json("listHosts")["hosts"])

    def stats(self, host: str | None = None) -> "list[StatInfo]":
        """Return the stats with their fields and units; those of a host, or all that are known."""
        return cast("list[StatInfo]", self._json("listStats", {"host": host})["stats"])

    def export_csv(self, host: str, begin: Instant, end: Instant, *, stat: str | None = None, fields: Sequence[str] = ()) -> str:
        """Return the samples as CSV, digit for digit; without `stat` of all stats, a row for each value."""
        query = {"host": host, "stat": stat, "field": list(fields), "start": begin, "end": end}
        return self._send("exportCsv", query).decode()

    def samples(self, host: str, stat: str, begin: Instant, end: Instant, *, fields: Sequence[str] = ()) -> Table:
        """Return every sample of a stat: a column `time`, one of the instance, one of each field."""
        return read_csv(self.export_csv(host, begin, end, stat=stat, fields=fields))

    def series(
        self, host: str, stat: str, columns: Sequence[str], begin: Instant, end: Instant
    ) -> "pd.DataFrame":  # fmt: skip
        """Return every sample of these fields of a stat as a frame, by time."""
        return self.samples(host, stat, begin, end, fields=columns).to_pandas()

    def comparison(
        self,
        host: str,
        begin: Instant,
        end: Instant,
        *,
        baseline: int | None = None,
        baseline_window: tuple[Instant, Instant] | None = None,
        ago: str | None = None,
        limit: int | None = None,
    ) -> "Comparison":
        """Return what changed on a host from `begin` to `end`, against a baseline, a window, or some time ago (`week`)."""
        first, last = baseline_window or (None, None)
        query = {
            "host": host, "start": begin, "end": end, "baseline": baseline, "baseline_start": first, "baseline_end": last,
            "ago": ago, "limit": limit,
        }  # fmt: skip
        return cast("Comparison", self._json("compare", query))

    def findings(self, host: str, begin: Instant, end: Instant, **against: Any) -> Table:
        """Return what changed as a table, the most unusual first; `against` as in `comparison`."""
        found = self.comparison(host, begin, end, **against)
        columns = ("stat", "instance", "field", "unit", "baseline", "incident", "change_ratio", "significance", "anomaly_score")
        rows: list[dict[str, object]] = []
        for group in cast("list[dict[str, Any]]", found["groups"]):
            for member in group["members"]:
                medians = {side: (member.get(side) or {}).get("median") for side in ("baseline", "incident")}
                rows.append({**group, **member, **medians, "anomaly_score": group.get("anomaly_score")})
        return Table({column: [row.get(column) for row in rows] for column in columns})

    def compare(self, host: str, begin: Instant, end: Instant, **against: Any) -> "pd.DataFrame":
        """Return what changed as a frame, the most unusual first; `against` as in `comparison`."""
        return self.findings(host, begin, end, **against).to_pandas()

    def baselines(self, host: str | None = None, *, archived: bool = False) -> "list[BaselineInfo]":
        """Return the baselines, newest first."""
        return cast("list[BaselineInfo]", self._json("listBaselines", {"host": host, "archived": archived})["baselines"])

    def create_baseline(
        self, name: str, hosts: Iterable[str], windows: "Iterable[tuple[Instant, Instant]]", *, note: str = ""
    ) -> "BaselineInfo":  # fmt: skip
        """Save windows as what is normal for hosts."""
        parts = [{"start": _text(begin), "end": _text(end)} for begin, end in windows]
        body = {"name": name, "note": note, "hosts": list(hosts), "windows": parts}
        return cast("BaselineInfo", self._json("createBaseline", body=body))

    def delete_baseline(self, baseline_id: int) -> None:
        """Delete a baseline with its versions; samples stay."""
        self._json("deleteBaseline", path_id=baseline_id)

    def events(
        self,
        hosts: Sequence[str] = (),
        *,
        begin: Instant | None = None,
        end: Instant | None = None,
        search: str | None = None,
        limit: int = 100,
    ) -> "list[HostEvent]":
        """Return events, newest first."""
        query = {"host": list(hosts), "start": begin, "end": end, "search": search, "limit": limit}
        return cast("list[HostEvent]", self._json("listEvents", query)["events"])

    def create_event(
        self,
        text: str,
        *,
        kind: str = "note",
        hosts: Sequence[str] | None = None,
        at: Instant | None = None,
        end: Instant | None = None,
        tags: Sequence[str] = (),
    ) -> "HostEvent":
        """Note an event: of some hosts, or of all; without `at` it is now."""
        body = {"text": text, "kind": kind, "tags": list(tags), "hosts": None if hosts is None else list(hosts)}
        times = {name: _text(value) for name, value in (("at", at), ("end", end)) if value is not None}
        return cast("HostEvent", self._json("createEvent", body={**body, **times}))

    # Internals.

    def _json(
        self, operation: str, query: Query | None = None, *, body: Query | None = None, path_id: int | None = None
    ) -> "dict[str, Any]":  # fmt: skip
        return cast("dict[str, Any]", json.loads(self._send(operation, query or {}, body=body, path_id=path_id)))

    def _send(self, operation: str, query: Query, *, body: Query | None = None, path_id: int | None = None) -> bytes:
        method, path, known = OPERATIONS[operation]
        unknown = set(query) | set(body or {})
        assert unknown <= set(known), f"{operation} has no {unknown - set(known)}"
        given = [(name, _text(each)) for name, value in query.items() for each in _each(value)]
        address = self._base + path.replace("{id}", str(path_id)) + ("?" + urllib.parse.urlencode(given) if given else "")
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "*/*"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(address, data=data, headers=headers, method=method)  # noqa: S310 (the user's own server)
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                return cast("bytes", answer.read())
        except urllib.error.HTTPError as error:
            raise _read_error(error) from None


def _read_error(error: urllib.error.HTTPError) -> NormstatError:
    try:
        told = json.loads(error.read())["error"]
        return NormstatError(error.code, str(told["code"]), str(told["message"]), str(told["request_id"]))
    except (ValueError, KeyError, TypeError):
        return NormstatError(error.code, "no_answer", f"{error.code} {error.reason}, and no answer of a normstat server", "")


def _each(value: object) -> "list[object]":
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _text(value: object) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone: use datetime(..., tzinfo=timezone.utc)")
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)
