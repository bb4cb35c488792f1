"""Which hosts the account of a request may see: a limit on every ORM statement of its sessions.

An account that is limited to host groups sees the hosts of these groups, and what belongs to them. The guard of a route sets the
limit of its task (`limit_hosts`); each session of that task then adds the condition of `list_limits` to every table that a
statement reads, changes or deletes from, in subqueries too. So a query that forgets the limit cannot show too much.

Not covered: statements that are composed as text, which is why they ask by the ids of hosts that an ORM statement gave, and what a
process keeps in memory for all accounts, which is made under `all_hosts` (docs/adr/0029).
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    Select,
    Table,
    and_,
    cast,
    event,
    exists,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import ORMExecuteState, with_loader_criteria
from sqlalchemy.orm.util import LoaderCriteriaOption
from sqlalchemy.sql import visitors
from sqlalchemy.sql.selectable import NamedFromClause

from normstat.db.limited_session import LimitedSession, limited_account, limiting_account
from normstat.db.schema.account_models import ShareLink, UserHostGroup
from normstat.db.schema.alert_models import AlertEpisodeRow, AlertMessageRow, AlertRow
from normstat.db.schema.all_models import Base
from normstat.db.schema.artefact_models import ArtefactBytes, ArtefactPartRow, ArtefactRow
from normstat.db.schema.baseline_models import (
    Baseline,
    BaselineHost,
    BaselineVersion,
    Exclusion,
    ExpectedValueRow,
    HostGroup,
    HostGroupHost,
    MutedSeries,
    SavedComparisonRow,
)
from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.experiment_models import ExperimentRow, ExperimentRunRow, RunArtefactRow, RunResultRow
from normstat.db.schema.incident_models import NormalChangeRow, PastIncidentRow
from normstat.db.schema.job_models import ImportedFileRow, ImportRow
from normstat.db.schema.models import Chunk, Gap, Host, PackedChunk, StatField, StoredRejectedLine, Stream
from normstat.db.schema.report_models import ReportFileBytes, ReportFileRow, ReportNoteRow, ReportRow
from normstat.db.schema.retention_models import StreamChange
from normstat.db.schema.watch_models import BacktestRow, EpisodeRow, RuleChange, RuleLimitRow, WatchMute

Condition = ColumnElement[bool]
# The columns of a table by their names; and which of its rows the account of that id sees.
Columns = Callable[[str], ColumnElement[Any]]
Limit = Callable[[Columns, int], Condition]


def limit_hosts(user_id: int | None) -> None:
    """Limit the statements of the present task to the hosts of this account's groups; None: all hosts."""
    limiting_account.set(user_id)


class Whole(StrEnum):
    """A row that covers several hosts, and may be changed only by an account that sees all of them."""

    BASELINE = "baseline"
    EVENT = "event"
    EXCLUSION = "exclusion"
    MUTE = "mute"
    WATCH_MUTE = "watch mute"
    RULE_LIMIT = "limit"
    EXPERIMENT = "experiment"


def _table(model: type[Base]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table


def _other(model: type[Base]) -> tuple[NamedFromClause[Any], Columns]:
    """Return a table for a subquery, and its columns by name.

    Not as a model, which would be limited itself; and as an alias, for the statement around it may have the table too.
    """
    alias = _table(model).alias()
    return alias, lambda name: alias.c[name]


def _ids(user_id: int) -> Select[tuple[int]]:
    """Return the ids of the hosts that the account sees."""
    hosts, groups = _table(HostGroupHost).alias(), _table(UserHostGroup).alias()
    own = groups.c.group_id == hosts.c.group_id
    return select(hosts.c.host_id).join_from(hosts, groups, own).where(groups.c.user_id == user_id)


def _names(user_id: int) -> Select[tuple[str]]:
    hosts = _table(Host).alias()
    return select(hosts.c.name).where(hosts.c.id.in_(_ids(user_id)))


def _host(row: Columns, user_id: int) -> Condition:
    return row("id").in_(_ids(user_id))


def _by_host(row: Columns, user_id: int) -> Condition:
    return row("host_id").in_(_ids(user_id))


def _by_host_if_any(row: Columns, user_id: int) -> Condition:
    # Without a host it is for all hosts, including those of the account.
    return or_(row("host_id").is_(None), row("host_id").in_(_ids(user_id)))


def _by_parent(parent: type[Base], column: str) -> Limit:
    """Return the limit of rows that belong to a row of another table."""

    def limit(row: Columns, user_id: int) -> Condition:
        others, other = _other(parent)
        return row(column).in_(select(others.c.id).where(limit_of(parent)(other, user_id)))

    return limit


def _has_visible(members: type[Base], key: str) -> Limit:
    """Return the limit of rows that cover several hosts: visible to accounts that see one of them."""

    def limit(row: Columns, user_id: int) -> Condition:
        _, member = _other(members)
        return exists().where(member(key) == row("id"), member("host_id").in_(_ids(user_id)))

    return limit


def _jsonpath(path: str) -> ColumnElement[Any]:
    # One of the paths of this module.
    return literal_column(f"'{path}'::jsonpath")


def _found_in(document: ColumnElement[Any], path: str) -> ColumnElement[Any]:
    return func.jsonb_path_query(document, _jsonpath(path), type_=JSONB()).column_valued()


def _names_hidden(document: ColumnElement[Any], path: str, user_id: int) -> Condition:
    """Return whether a JSON document names, at a path, a host that the account does not see."""
    # As text: a name, without the quotes of JSON.
    name = _found_in(document, path).op("#>>")(literal_column("'{}'"))
    return exists(select(1).where(name.not_in(_names(user_id))))


def _refers_to_hidden(document: ColumnElement[Any], path: str, model: type[Base], user_id: int) -> Condition:
    """Return whether a JSON document has, at a path, the id of a row that the account does not see."""
    found = cast(_found_in(document, path), BigInteger)
    others, other = _other(model)
    return exists(select(1).where(found.not_in(select(others.c.id).where(limit_of(model)(other, user_id)))))


def _baseline(row: Columns, user_id: int) -> Condition:
    return or_(_has_visible(BaselineHost, "baseline_id")(row, user_id), row("rolling_host_id").in_(_ids(user_id)))


def _event(row: Columns, user_id: int) -> Condition:
    return or_(row("is_for_all_hosts"), _has_visible(EventHost, "event_id")(row, user_id))


def _experiment(row: Columns, user_id: int) -> Condition:
    _, run = _other(ExperimentRunRow)
    has_none = ~exists().where(run("experiment_id") == row("id"))
    return or_(has_none, _has_visible(ExperimentRunRow, "experiment_id")(row, user_id))


def _import(row: Columns, user_id: int) -> Condition:
    # By name: its host may not exist yet.
    return row("host").in_(_names(user_id))


def _saved_comparison(row: Columns, user_id: int) -> Condition:
    inputs = row("inputs")
    name = inputs.op("->>")("group")
    _, group = _other(HostGroup)
    _, member = _other(HostGroupHost)
    # A comparison with a group reveals something about each of its hosts.
    is_hidden = or_(
        name.not_in(select(group("name"))),
        exists().where(group("name") == name, member("group_id") == group("id"), member("host_id").not_in(_ids(user_id))),
    )
    return and_(
        ~_names_hidden(inputs, "$.host[*]", user_id),
        ~_names_hidden(inputs, '$.other_host ? (@.type() == "string")', user_id),
        or_(name.is_(None), ~is_hidden),
    )


# Paths in a note of a report to the ids of what it shows.
REFERENCES: Final[dict[str, type[Base]]] = {
    '$ ? (@.kind == "comparison").comparison ? (@.type() == "number")': SavedComparisonRow,
    '$ ? (@.kind == "artefact").artefact': ArtefactRow,
    '$ ? (@.kind == "artefact_diff").baseline': ArtefactRow,
    '$ ? (@.kind == "artefact_diff").incident': ArtefactRow,
    '$ ? (@.kind == "experiment").experiment': ExperimentRow,
}
# Hosts of graphs, facts, events, and of comparisons.
NAMES: Final = ("$.host", "$.hosts[*]", "$.inputs.host[*]", '$.inputs.other_host ? (@.type() == "string")')


def _report(row: Columns, user_id: int) -> Condition:
    """Return whether a report is about the account's hosts alone, or a template: no note may show another host."""
    _, note = _other(ReportNoteRow)
    hidden = [_names_hidden(note("content"), path, user_id) for path in NAMES]
    hidden += [_refers_to_hidden(note("content"), path, model, user_id) for path, model in REFERENCES.items()]
    # The hosts of a group are in its result, and the group may have had others then.
    hidden.append(func.jsonb_path_exists(note("content"), _jsonpath('$.inputs.group ? (@.type() == "string")')))
    return and_(
        or_(row("is_template"), func.jsonb_array_length(row("hosts")) > 0),
        ~_names_hidden(row("hosts"), "$[*]", user_id),
        ~exists().where(note("report_id") == row("id"), or_(*hidden)),
    )


def _backtest(row: Columns, user_id: int) -> Condition:
    return ~_names_hidden(row("hosts"), "$[*]", user_id)


def _past_incident(row: Columns, user_id: int) -> Condition:
    return and_(func.jsonb_array_length(row("hosts")) > 0, ~_names_hidden(row("hosts"), "$[*]", user_id))


def _rule_change(row: Columns, _user_id: int) -> Condition:
    # Notes about limits name their hosts.
    return ~row("change").startswith("limit ")


def _share_link(row: Columns, user_id: int) -> Condition:
    of_comparison = _by_parent(SavedComparisonRow, "comparison_id")(row, user_id)
    return or_(of_comparison, _by_parent(ReportRow, "report_id")(row, user_id))


_OWN: Final[dict[type[Base], Limit]] = {
    Host: _host,
    Baseline: _baseline,
    BaselineVersion: _by_parent(Baseline, "baseline_id"),
    HostGroup: _has_visible(HostGroupHost, "group_id"),
    Exclusion: _by_host_if_any,
    MutedSeries: _by_host_if_any,
    ExpectedValueRow: _by_host,
    WatchMute: _by_host_if_any,
    RuleLimitRow: _by_host_if_any,
    SavedComparisonRow: _saved_comparison,
    EventRow: _event,
    ExperimentRow: _experiment,
    RunResultRow: _by_parent(ExperimentRunRow, "run_id"),
    RunArtefactRow: _by_parent(ArtefactRow, "artefact_id"),
    ArtefactBytes: _by_parent(ArtefactRow, "artefact_id"),
    ArtefactPartRow: _by_parent(ArtefactRow, "artefact_id"),
    ReportRow: _report,
    ReportNoteRow: _by_parent(ReportRow, "report_id"),
    ReportFileRow: _by_parent(ReportRow, "report_id"),
    ReportFileBytes: _by_parent(ReportFileRow, "file_id"),
    ShareLink: _share_link,
    ImportRow: _import,
    ImportedFileRow: _by_parent(ImportRow, "import_id"),
    BacktestRow: _backtest,
    PastIncidentRow: _past_incident,
    NormalChangeRow: _by_host,
    RuleChange: _rule_change,
    AlertEpisodeRow: _by_parent(EpisodeRow, "episode_id"),
    AlertMessageRow: _by_parent(AlertRow, "alert_id"),
    Chunk: _by_parent(Stream, "stream_id"),
    PackedChunk: _by_parent(Stream, "stream_id"),
    StoredRejectedLine: _by_parent(Stream, "stream_id"),
    Gap: _by_parent(Stream, "stream_id"),
    StreamChange: _by_parent(Stream, "stream_id"),
}


@lru_cache(maxsize=1)
def list_limits() -> dict[type[Base], Limit]:
    """Return the limit of each table that has rows of hosts: those of its own, and of every other one with a host_id.

    Not of the columns of stats, which belong to all hosts: samples/lookup.py leaves out what a limited
    account may not see.
    """
    tables = [mapper.class_ for mapper in Base.registry.mappers]
    return {model: _by_host for model in tables if "host_id" in _table(model).c and model is not StatField} | _OWN


def limit_of(model: type[Base]) -> Limit:
    """Return the condition that limits the rows of a table to those that an account sees."""
    return list_limits()[model]


@lru_cache(maxsize=10_000)
def _option(model: type[Base], user_id: int) -> LoaderCriteriaOption:
    return with_loader_criteria(model, limit_of(model)(partial(getattr, model), user_id), include_aliases=True)


@lru_cache(maxsize=1)
def _models_by_table() -> dict[str, frozenset[type[Base]]]:
    """Return which limited tables a statement may read that names a table: that one, and those that are loaded with its rows."""
    loaded: dict[str, frozenset[type[Base]]] = {}
    for mapper in Base.registry.mappers:
        others = {mapper.class_, *(relationship.mapper.class_ for relationship in mapper.relationships)}
        loaded[_table(mapper.class_).name] = frozenset(others & list_limits().keys())
    return loaded


def find_limited(statement: Executable) -> set[type[Base]]:
    """Return the limited tables that a statement names, wherever it does.

    All of them as options of every statement would do as well, and make it twenty times as slow to prepare.
    """
    found: set[type[Base]] = set()
    queue: list[Any] = [statement]
    seen: set[int] = set()
    while queue:
        for element in visitors.iterate(queue.pop()):
            if isinstance(element, Table):
                found |= _models_by_table().get(element.name, frozenset())
            # A column is all that names an alias or a subquery that a statement selects from.
            source = getattr(element, "table", None)
            if source is not None and id(source) not in seen:
                seen.add(id(source))
                queue.append(getattr(source, "element", source))
    return found


@event.listens_for(LimitedSession, "do_orm_execute")
def _limit_statement(state: ORMExecuteState) -> None:
    user_id = limited_account()
    if user_id is not None and state.is_orm_statement and not state.is_column_load and not state.is_relationship_load:
        limited = sorted(find_limited(state.statement), key=lambda model: model.__name__)
        state.statement = state.statement.options(*(_option(model, user_id) for model in limited))


# --- what a guard asks ---


async def find_hidden_names(session: AsyncSession, names: Iterable[str]) -> list[str]:
    """Return which of the named hosts the account of this task does not see, whether they exist or not."""
    asked = list(dict.fromkeys(names))
    visible = set(await session.scalars(select(Host.name).where(Host.name.in_(asked)))) if asked else set()
    return [name for name in asked if name not in visible]


async def read_visible_names(session: AsyncSession) -> frozenset[str]:
    """Return the names of the hosts that the account of this task sees."""
    return frozenset(await session.scalars(select(Host.name)))


async def has_hidden_host(session: AsyncSession, whole: Whole, row_id: int) -> bool:
    """Return whether something covers a host that the limited account of this task does not see. Without such a row: False."""
    user_id = limited_account()
    if user_id is None:
        return False
    hidden = _HIDDEN[whole](row_id, user_id)
    return await session.scalar(select(hidden)) is True


async def is_group_hidden(session: AsyncSession, name: str) -> bool:
    """Return whether a host group has a host that the limited account of this task does not see. Without such a group: False."""
    user_id = limited_account()
    if user_id is None:
        return False
    _, group = _other(HostGroup)
    _, member = _other(HostGroupHost)
    is_hidden = and_(group("name") == name, member("group_id") == group("id"), member("host_id").not_in(_ids(user_id)))
    return await session.scalar(select(exists().where(is_hidden))) is True


def _covers_hidden(members: type[Base], key: str) -> Callable[[int, int], Condition]:
    rows = _table(members).c
    return lambda row_id, user_id: exists().where(rows[key] == row_id, rows.host_id.not_in(_ids(user_id)))


def _is_for_all(model: type[Base]) -> Callable[[int, int], Condition]:
    rows = _table(model).c
    return lambda row_id, _user_id: exists().where(rows.id == row_id, rows.host_id.is_(None))


def _is_event_hidden(row_id: int, user_id: int) -> Condition:
    rows = _table(EventRow).c
    covers = _covers_hidden(EventHost, "event_id")(row_id, user_id)
    return or_(covers, exists().where(rows.id == row_id, rows.is_for_all_hosts))


_HIDDEN: Final[dict[Whole, Callable[[int, int], Condition]]] = {
    Whole.BASELINE: _covers_hidden(BaselineHost, "baseline_id"),
    Whole.EVENT: _is_event_hidden,
    Whole.EXCLUSION: _is_for_all(Exclusion),
    Whole.MUTE: _is_for_all(MutedSeries),
    Whole.WATCH_MUTE: _is_for_all(WatchMute),
    Whole.RULE_LIMIT: _is_for_all(RuleLimitRow),
    Whole.EXPERIMENT: _covers_hidden(ExperimentRunRow, "experiment_id"),
}
