"""Generates docs/next-questions.md from the rule file of next questions."""

from collections.abc import Iterator
from typing import Final

from normstat.comparison.next_questions.question_rules import CommandRule, Condition, RuleBook, load_rules

INTRODUCTION: Final = """\
# Next questions

A comparison says what differs; these are the questions that it suggests to ask next. Each finding is looked up by what its field
*means* (CPU time in the kernel, spins on mutexes), not by the tool that printed it, together with the host's other findings. The
questions that fit come with commands for the host's system, with the finding's own CPU, process, disk, interface or mount point.

This page is generated from `backend/normstat/comparison/next_questions/questions.toml` by `make gen`: change that file.
A finding shows at most three questions, those with the most conditions first. Sections of manual pages are those of illumos and
Solaris 11.4; older Solaris has most of them in 1M. *(root)*: needs root, or the privileges named in the manual page. All
commands only observe, but observing costs: `truss` and `strace` slow a process down many times, `pstack`, `pfiles` and `mdb -p`
stop it for a moment.

Where the facts of a host say which tools it has (`tools`), commands that need another of those that the agent looks for are left
out; if no command is left, they are offered with what to install. Other tools, and hosts without that fact, are not filtered.
"""
SYSTEM_NAMES: Final = {"sunos": "Solaris", "linux": "Linux", "any": "any system"}


def render_questions_page() -> str:
    """Return the page as text."""
    book = load_rules()
    parts = [INTRODUCTION, "## Questions\n", "`NAME` is the name of the rule; below it are the findings that it needs.\n"]
    for rule in book.rules:
        conditions = "; ".join(_words(condition, book) for condition in rule.when)
        offered = ", ".join(f"[{command.name}](#{command.name})" for command in rule.commands)
        instead = f" Asked instead of {', '.join(f'`{name}`' for name in sorted(rule.instead_of))}." if rule.instead_of else ""
        parts.append(f"- **{rule.ask}** `{rule.name}`  \n  When: {conditions}.{instead}  \n  {offered}")
    parts.append("\n## Commands\n")
    for command in book.commands.values():
        parts.extend(_command_lines(command))
    return "\n".join(parts).rstrip() + "\n"


def _command_lines(command: CommandRule) -> Iterator[str]:
    root = " *(root)*" if command.needs else ""
    source = f"<{command.source}>" if command.source.startswith("https:") else command.source
    yield f"### {command.name}\n"
    yield f"{SYSTEM_NAMES[command.on]}{root}. {command.note} Source: {source}\n"
    yield f"    {command.run}\n"


def _words(condition: Condition, book: RuleBook) -> str:
    """Return a condition in words."""
    subject = " or ".join(book.meanings[name].words for name in condition.meanings)
    if condition.over:
        subject = f"{subject} for each of: {book.meanings[condition.over].words}"
    spreads = " or ".join(spread for spread in ("one", "few", "most") if spread in condition.spreads)
    words = [
        {"up": "went up", "down": "went down", "": "" if condition.over else "changed"}[condition.direction],
        f"on {spreads} of the instances" if spreads else "",
        f"as {' or '.join(sorted(condition.kinds))}" if condition.kinds else "",
        *(
            f"{'in the baseline ' if limit.is_baseline else ''}at {'least' if limit.is_least else 'most'} {limit.value:g}"
            for limit in condition.limits
        ),
        "on the same instance" if condition.is_here else "",
    ]
    return f"{'not: ' if condition.is_absent else ''}{subject} {', '.join(word for word in words if word)}".strip()
