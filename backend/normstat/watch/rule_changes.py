"""Change rules: save a user's, enable and disable, set limits. No rule is enabled without a backtest."""

from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import BadRequest, Conflict, NotAllowed, shorten
from normstat.records.episode_rows import end_episodes
from normstat.samples.lookup import require_host
from normstat.watch import backtest_rows, watch_rule_rows
from normstat.watch.backtest_rows import Backtest, BacktestCreate, BacktestDraft
from normstat.watch.rule_book import BookedRule, load_builtin, read_watch_book
from normstat.watch.rules.episode_tracker import EpisodeEnd
from normstat.watch.rules.past import count_pieces
from normstat.watch.rules.rule_file import BadRule, WatchRule, read_rule
from normstat.watch.watch_rule_rows import LimitRecord, RuleLimitSet, RuleUpdate, unknown_rule
from normstat.window import Window

MAX_HOSTS: Final = 50
MAX_PIECES: Final = 24 * 366


async def save_user_rule(session: AsyncSession, name: str, toml: str, *, by: str) -> None:
    """Store a user's rule. A changed text watches only after a backtest and after being enabled.

    Raises: BadRequest for a text that is not a rule or has another name; Conflict for the name of a built-in rule
    """
    if name in load_builtin():
        raise Conflict(f"Rule {name} is built in; set limits for some hosts, or save a copy under another name", {"rule": name})
    rule = check_text(toml)
    if rule.name != name:
        raise BadRequest(f"The text names the rule {shorten(rule.name)}, not {shorten(name)}; change one of them", {"rule": name})
    row = await watch_rule_rows.lock_stored_rule(session, name)
    if row is not None and row.deleted_at is None and row.toml == toml:
        return
    version = 1 if row is None else row.version + 1
    change = "created" if row is None or row.deleted_at is not None else "changed"
    await watch_rule_rows.save_rule(session, RuleUpdate(name, toml, version, is_enabled=False, change=change, changed_by=by))
    await end_episodes(session, name, by=EpisodeEnd.RULE_OFF, now=await _now(session))


async def enable_rule(session: AsyncSession, name: str, *, is_enabled: bool, by: str) -> None:
    """Enable or disable a rule; enabling also restarts one that was stopped.

    Raises: NotFound; Conflict for a user's rule without a finished backtest of its present text
    """
    booked = await require_rule(session, name)
    if is_enabled and not booked.is_builtin:
        if booked.problem:
            raise Conflict(f"Rule {name} cannot be read: {booked.problem}", {"rule": name})
        if not await backtest_rows.has_finished(session, name, booked.toml):
            raise Conflict(f"Rule {name} has no backtest of its current text; run one first, then enable it", {"rule": name})
    change = "enabled" if is_enabled else "disabled"
    toml = None if booked.is_builtin else booked.toml
    await watch_rule_rows.save_rule(
        session, RuleUpdate(name, toml, booked.version, is_enabled=is_enabled, change=change, changed_by=by)
    )
    if not is_enabled:
        await end_episodes(session, name, by=EpisodeEnd.RULE_OFF, now=await _now(session))


async def delete_user_rule(session: AsyncSession, name: str, *, by: str) -> None:
    """Delete a user's rule; its episodes and its history stay.

    Raises: NotFound; NotAllowed for a built-in rule
    """
    booked = await require_rule(session, name)
    if booked.is_builtin:
        raise NotAllowed(f"Rule {name} is built in and cannot be deleted; disable it instead")
    await watch_rule_rows.delete_rule(session, name, booked.version, by=by)
    await end_episodes(session, name, by=EpisodeEnd.RULE_OFF, now=await _now(session))


async def set_rule_limit(session: AsyncSession, name: str, body: RuleLimitSet, *, by: str) -> LimitRecord:
    """Return the limit that some hosts have now in place of the rule's own.

    Raises: NotFound for an unknown rule, host or group; BadRequest for an unknown limit, or unless it is for exactly one of a host,
        a group and a tag
    """
    booked = await require_rule(session, name)
    known = [] if booked.rule is None else [limit.name for limit in booked.rule.limits]
    if body.name not in known:
        raise BadRequest(f"Rule {name} has no limit {shorten(body.name)}; it has {', '.join(known) or 'none'}")
    if sum(place is not None for place in (body.host, body.group, body.tag)) != 1:
        raise BadRequest("A limit is set for one host, one group or one tag; give `host`, `group` or `tag`")
    record = await watch_rule_rows.set_limit(session, name, body, by=by)
    where = _name_place(record)
    await _note(session, booked, f"limit {body.name} is {body.value:g} for {where}: {body.reason}", by)
    return record


async def remove_rule_limit(session: AsyncSession, limit_id: int, *, by: str) -> None:
    """Restore the rule's own limit.

    Raises: NotFound
    """
    record = await watch_rule_rows.delete_limit(session, limit_id)
    booked = (await read_watch_book(session)).rules.get(record.rule)
    if booked is not None:
        await _note(session, booked, f"limit {record.name} is its own again for {_name_place(record)}", by)


def _name_place(limit: LimitRecord) -> str:
    if limit.host is not None:
        return f"host {limit.host}"
    return f"group {limit.group}" if limit.group is not None else f"tag {limit.tag}"


async def ask_for_backtest(session: AsyncSession, body: BacktestCreate, *, by: str) -> Backtest:
    """Queue a backtest of a rule's text on hosts.

    Raises: BadRequest for a text that is not a rule, an empty or too long window, or too many hosts; NotFound for an unknown host
    """
    window = Window(body.start, body.end)
    hosts = list(dict.fromkeys(body.hosts))
    rule = check_text(body.toml)
    for host in hosts:
        await require_host(session, host)
    n_pieces = count_pieces(window) * len(hosts)
    if len(hosts) > MAX_HOSTS or n_pieces > MAX_PIECES:
        raise BadRequest(
            f"{len(hosts)} hosts over {count_pieces(window):,} hours are {n_pieces:,} hours of samples;"
            f" a backtest reads at most {MAX_PIECES:,}, of {MAX_HOSTS} hosts: choose fewer or a shorter window"
        )
    booked = (await read_watch_book(session)).rules.get(rule.name)
    version = booked.version if booked is not None and booked.toml == body.toml else None
    return await backtest_rows.add_backtest(session, BacktestDraft(rule.name, version, body.toml, hosts, window, n_pieces, by))


async def require_rule(session: AsyncSession, name: str) -> BookedRule:
    """Return a rule.

    Raises: NotFound
    """
    booked = (await read_watch_book(session)).rules.get(name)
    if booked is None:
        raise unknown_rule(name)
    return booked


def check_text(toml: str) -> WatchRule:
    """Return the rule of a text.

    Raises: BadRequest
    """
    try:
        rule = read_rule(toml, "rule")
    except BadRule as error:
        raise BadRequest(str(error)) from None
    if rule.is_own:
        raise BadRequest("Inputs with `own` have no recorded past to be tried on; only built-in rules have them")
    return rule


async def _note(session: AsyncSession, booked: BookedRule, change: str, by: str) -> None:
    update = RuleUpdate(booked.name, None, booked.version, is_enabled=booked.is_enabled, change=change, changed_by=by)
    await watch_rule_rows.note_change(session, update)


async def _now(session: AsyncSession) -> datetime:
    return await watch_rule_rows.read_now(session)
