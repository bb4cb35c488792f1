"""Generates docs/rules.md from the built-in rules."""

from collections.abc import Iterator
from typing import Final

from normstat.watch.rules.rule_file import COLOUR_WORDS, COLOURS, WatchInput, WatchRule, load_builtin_rules, name_parts
from normstat.watch.rules.rule_frame import name_sources

INTRODUCTION: Final = """\
# Rules

A rule says what a number means: from which value on it is a warning, when it is critical, and what to do then. It is the
experience of someone who has seen many hosts; a comparison with a baseline is the experience of one. Neither replaces the
other.

    normstat rules list                          the built-in rules
    normstat rules show mutex                    one of them: inputs, limits with their sources, states
    normstat rules test mutex --host sun1 --from 2026-11-21T06:00Z --to 2026-11-22T06:00Z

The built-in rules watch every host by themselves ([watching.md](watching.md)). `test` holds a rule against recorded samples
and tells when it would have fired, how long, and what it saw. Do that before you believe a rule, and with `--limit smtx=800` or
a file of your own (`normstat rules test my-rule.toml ...`) before you believe yourself. `test` stores nothing and sends no alerts.

A rule has one state for each report, of the host or of each CPU or disk:

{colours}

Where a value is missing that a condition needs, the state is unknown, not fine. The worst instance is the state of the
host. Averages since boot are not samples, so no rule ever sees one.

## What rules need recorded

A rule judges a host that sends all of its inputs; the page of a rule lists the hosts that do not. The agents' `stats.conf` as it
comes records what most rules need. These need one of its other lines, without the comment sign, or a line of your own:

| rule | needs |
|---|---|
| dnlc | kstat with `unix:0:dnlcstats` |
| disk-errors | `iostat -En` |
| filesystem-full, inodes-full | `df -k` (on by default on Linux), `df -i` |
| nfs-client, nfs-client-linux | `nfsstat` |
| retransmits-solaris, listen-queue on Solaris | `netstat -s` |
| swapping-solaris | `vmstat -p` |
| inode-cache, kernel-memory, kernel-tables | `sar -g`, `sar -k`, `sar -v` |
| network-full | `nicstat`, or `sar -n DEV` on Linux |
| packet-backlog | `sar -n SOFT` |
| throttled, memory-errors | `turbostat`, `mcelog` |
| database-blocked, database-connections, database-transaction, postgresql-... | `query 10 psql` or `query 10 mysql` |
| redis-memory, haproxy-servers | `redis-cli INFO`, `show stat` of haproxy |

Name services (DNS, LDAP) are not in this list: no tool that normstat reads tells how long a lookup takes.

Limits of the 1990s that depend on the size of the machine are scaled; the table of limits of a rule says how.

## Writing a rule

A rule is a TOML file: `format = 1`, `name`, `title`, `subsystem`, `version`, `about`, `source`, and `of` (`cpu`, `disk`,
`interface`, `mount`, `process`, `session`, ...; left out for one state of the host). `ends_after = "5 min"` says how long
nothing may be amber or worse before an episode has ended; two minutes without it. `except = ["lo", "/snap/*"]` leaves
instances out.
A built-in rule with `enabled = false`, such as `mutex-average` (the rule before `mutex`), is off until you enable it.

- `[inputs]`: `NAME = {{ meaning = "cpu.sys", unit = "%" }}`. A meaning ([next-questions.md](next-questions.md) and
  `questions.toml`) is what fields of different tools measure; `fields = ["vmstat_solaris.page_sr"]` names fields of
  [stats.md](stats.md) instead, the preferred one first. Units are `%`, `ms`, `bytes`, `bytes/s`, `1/s` and `1`: sizes are
  turned into bytes and times into milliseconds. `each = true` gives a rule of the host the values of all instances.
  `linux_pressure.stall_pct@memory.full` is the value of one instance. A counter since boot is not an input, but its change for
  each second is: `rate(netstat_solaris_if.ierrs)`, in `1/s`.
- `[limits]`: `NAME = {{ value = 20, unit = "%", source = "where the number comes from" }}`.
- `[[states]]`, from the worst to the best: `state`, `when`, `for = "30 s"` (the condition held in every report of that
  time), `action`, `explanation`. The last one has no `when`: it holds otherwise.

A condition has numbers, inputs, `limit.NAME`, `+ - * /`, comparisons, `and`, `or`, `not`, and functions. `held(CONDITION,
'30 s')`, `share(CONDITION, '5 min')` (from 0 to 1) and `mean(VALUE, '5 min')` look back from a report and are unknown until
reports cover that time without a gap; `before(VALUE)` is that of the report before; `sum_of`, `mean_of`, `max_of`,
`min_of`, `count_of(CONDITION)` and `number_of` make one value of all instances. Inputs of one tool are read together where
one has all; of other tools the last report counts, for two of its intervals.
"""


def render_rules_page() -> str:
    """Return the page as text."""
    colours = "\n".join(f"- *{colour}*: {COLOUR_WORDS[colour]}" for colour in COLOURS)
    rules = load_builtin_rules().values()
    parts = [INTRODUCTION.format(colours=colours), "## Built-in rules\n"]
    parts += ["| rule | subsystem | a state for each | what it watches |", "|---|---|---|---|"]
    parts += [f"| [{rule.name}](#{rule.name}) | {rule.subsystem} | {name_parts(rule)} | {rule.title} |" for rule in rules]
    for rule in rules:
        parts += ["", *_rule_lines(rule)]
    return "\n".join(parts).rstrip() + "\n"


def _rule_lines(rule: WatchRule) -> Iterator[str]:
    yield f"### {rule.name}\n"
    yield f"**{rule.title}**, version {rule.version}. {rule.about}\n"
    yield f"Source: {rule.source}.\n"
    if rule.excluded:
        yield f"Left out: {', '.join(f'`{pattern}`' for pattern in rule.excluded)}.\n"
    yield "| input | unit | read from |"
    yield "|---|---|---|"
    for wanted in rule.inputs:
        yield f"| `{wanted.name}` | {wanted.unit} | {_say_sources(wanted)} |"
    if rule.limits:
        yield "\n| limit | value | where it comes from |"
        yield "|---|---|---|"
        for limit in rule.limits:
            yield f"| `limit.{limit.name}` | {limit.value:g} {limit.unit} | {limit.source} |"
    yield "\n| state | when | explanation and action |"
    yield "|---|---|---|"
    for state in rule.states:
        when = "otherwise" if state.when is None else f"`{state.when.text}`"
        yield f"| {state.colour} | {when} | {state.explanation} {state.action} |"


def _say_sources(wanted: WatchInput) -> str:
    return "what normstat knows itself" if wanted.own else ", ".join(f"`{name}`" for name in name_sources(wanted))
