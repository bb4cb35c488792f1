"""Rules and backtests: listed, explained, saved, tried on the past, enabled."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import Path, Query
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.audit_notes import changes_nothing
from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.watch_schemas import (
    BacktestList,
    RuleChangeInfo,
    RuleDetail,
    RuleEnable,
    RuleHost,
    RuleInputInfo,
    RuleLimitInfo,
    RuleList,
    RulePut,
    RuleReading,
    RuleStateInfo,
    WatchRuleInfo,
)
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.db.row_records import to_record
from normstat.errors import BadRequest, Conflict, NotFound, TooManyRequests
from normstat.runtime.body import NO_NUL
from normstat.watch import backtest_rows, rule_changes
from normstat.watch.backtest_rows import Backtest, BacktestCreate
from normstat.watch.rule_book import BookedRule, read_watch_book
from normstat.watch.rules.rule_file import WatchRule
from normstat.watch.rules.rule_frame import name_sources
from normstat.watch.rules.rule_run import UNKNOWN
from normstat.watch.watch_lists import WatchedHostInfo, count_by_source, list_watched_hosts
from normstat.watch.watch_rule_rows import LimitRecord, RuleLimitSet, list_changes

router = LazyRouter(tags=["rules"])

WEEK: Final = timedelta(days=7)
RulePath = Annotated[str, Path(alias="rule", description="name of the rule", min_length=1, max_length=60, pattern=NO_NUL)]


@router.get("/rules", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_rules(session: ReadSession) -> RuleList:
    """List all rules, built in and users' own, and what each is doing."""
    book = await read_watch_book(session)
    counts = await count_by_source(session, datetime.now(UTC) - WEEK)
    hosts = await list_watched_hosts(session)
    return RuleList([_to_info(booked, hosts, counts) for booked in book.rules.values()])


@router.post("/rules/check", responses=guarded_answers(BadRequest))
@open_to_limited()
@changes_nothing
async def check_rule(body: RulePut, principal: Operator) -> RuleReading:
    """Read a rule's text and explain it; nothing is stored."""
    del principal
    return _to_reading(rule_changes.check_text(body.toml))


@router.get("/rules/{rule}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_rule(rule: RulePath, session: ReadSession) -> RuleDetail:
    """Return all about a rule: its text, limits, hosts and history."""
    return await _read_detail(session, rule)


@router.put("/rules/{rule}", responses=guarded_answers(BadRequest, Conflict))
async def put_rule(rule: RulePath, body: RulePut, principal: Operator, session: WriteSession) -> RuleDetail:
    """Save a rule of one's own. It watches only after a backtest of exactly this text and after being enabled."""
    await rule_changes.save_user_rule(session, rule, body.toml, by=principal.name)
    return await _read_detail(session, rule)


@router.delete("/rules/{rule}", responses=guarded_answers(NotFound))
async def delete_rule(rule: RulePath, principal: Operator, session: WriteSession) -> Empty:
    """Delete a rule of one's own; its episodes and its history stay."""
    await rule_changes.delete_user_rule(session, rule, by=principal.name)
    return Empty()


@router.put("/rules/{rule}/enabled", responses=guarded_answers(NotFound, Conflict))
async def enable_rule(rule: RulePath, body: RuleEnable, principal: Operator, session: WriteSession) -> RuleDetail:
    """Enable or disable a rule; enabling also restarts one that was stopped."""
    await rule_changes.enable_rule(session, rule, is_enabled=body.is_enabled, by=principal.name)
    return await _read_detail(session, rule)


@router.post("/rules/{rule}/limits", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True, needs_whole_group=True)
@makes_rows(row_budgets.RULE_LIMITS)
async def set_rule_limit(rule: RulePath, body: RuleLimitSet, principal: Operator, session: WriteSession) -> LimitRecord:
    """Set another value for a limit of a rule, for one host, for the hosts of a group, or for the hosts with a tag."""
    return await rule_changes.set_rule_limit(session, rule, body, by=principal.name)


@router.delete("/rule-limits/{id}", responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.RULE_LIMIT)
async def remove_rule_limit(id: IdPath, principal: Operator, session: WriteSession) -> Empty:  # noqa: A002
    """Remove such a value: the rule's own applies again."""
    await rule_changes.remove_rule_limit(session, id, by=principal.name)
    return Empty()


@router.post("/backtests", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.JOBS)
async def create_backtest(body: BacktestCreate, principal: Operator, session: WriteSession) -> Backtest:
    """Evaluate a rule's text on recorded samples of hosts, in the background; stop it by its job."""
    return await rule_changes.ask_for_backtest(session, body, by=principal.name)


@router.get("/backtests", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_backtests(
    session: ReadSession, rule: Annotated[str, Query(description="name of the rule", max_length=60, pattern=NO_NUL)]
) -> BacktestList:
    """List the backtests of a rule, the latest first, without their episodes."""
    return BacktestList(await backtest_rows.list_backtests(session, rule))


@router.get("/backtests/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_backtest(id: IdPath, session: ReadSession) -> Backtest:  # noqa: A002
    """Return a backtest: its progress, and what it found."""
    return await backtest_rows.read_backtest(session, id)


async def _read_detail(session: AsyncSession, name: str) -> RuleDetail:
    booked = await rule_changes.require_rule(session, name)
    book = await read_watch_book(session)
    hosts = await list_watched_hosts(session)
    counts = await count_by_source(session, datetime.now(UTC) - WEEK)
    changes = await list_changes(session, name)
    return RuleDetail(
        info=_to_info(booked, hosts, counts),
        toml=booked.toml,
        text=None if booked.rule is None else _to_reading(booked.rule),
        has_backtest=await backtest_rows.has_finished(session, name, booked.toml),
        limits=[limit for limit in book.limits if limit.rule == name],
        hosts=[_to_host(host.name, host.progress[name]) for host in hosts if name in host.progress],
        changes=[to_record(RuleChangeInfo, row) for row in changes],
    )


def _to_info(booked: BookedRule, hosts: Sequence[WatchedHostInfo], counts: Mapping[str, tuple[int, int]]) -> WatchRuleInfo:
    own = [host.progress[booked.name] for host in hosts if booked.name in host.progress]
    n_on, n_week = counts.get(booked.name, (0, 0))
    rule = booked.rule
    return to_record(
        WatchRuleInfo,
        booked,
        title=booked.name if rule is None else rule.title,
        subsystem="" if rule is None else rule.subsystem,
        of="" if rule is None else rule.of,
        n_hosts=sum(1 for each in own if each.get("until")),
        n_lacking=sum(1 for each in own if each.get("lacks")),
        n_on=n_on,
        n_week=n_week,
    )


def _to_host(name: str, progress: Mapping[str, object]) -> RuleHost:
    until, lacks, colour = progress.get("until"), progress.get("lacks"), progress.get("colour")
    return RuleHost(
        name,
        datetime.fromisoformat(until) if isinstance(until, str) else None,
        colour if isinstance(colour, int) else UNKNOWN,
        lacks if isinstance(lacks, str) else None,
    )


def _to_reading(rule: WatchRule) -> RuleReading:
    return to_record(
        RuleReading,
        rule,
        inputs=[to_record(RuleInputInfo, each, sources=name_sources(each)) for each in rule.inputs],
        limits=[to_record(RuleLimitInfo, each) for each in rule.limits],
        states=[to_record(RuleStateInfo, each, when=None if each.when is None else each.when.text) for each in rule.states],
    )
