"""Name the question that a tracer answers: its output does not say, and one key means another thing in each program.

    dtrace -n 'syscall:::entry { @[execname] = count(); }'    syscall:::entry @[execname] = count()
    dtrace -s ./opens.d; ./hotkernel -m 5                     opens; hotkernel -m
    bpftrace -e '...' # reads by size                         reads by size

The name is part of each instance, so that two questions never meet in one series. It comes from a comment after the command, the
program, the script or, in recorded output, from the command line above it.
"""

import re
import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

MAX_LENGTH: Final = 120
# A program that was pasted with its output.
MAX_COMMAND: Final = 16_384
TRACERS: Final = frozenset({"dtrace", "bpftrace", "stap"})
ENDINGS: Final = re.compile(r"(?:\.d|\.bt|\.stp|\.py|\.sh|-bpfcc)$")
BEFORE: Final = re.compile(r"(?:(?:sudo|pfexec|exec|nohup|time|timeout [\w.]+|nice(?: -n ?-?\d+)?|[A-Z_]+=\S*) +)+")
LOOP: Final = re.compile(r"@\d+ +")
COMMENT: Final = re.compile(r"(?:^|\s)#\s*(\S.*)")
PROGRAM: Final = re.compile(r"\s-[a-zA-Z]*[en]\s*(?:'([^']*)'|\"([^\"]*)\"|(.*))", re.DOTALL)
OPEN: Final = re.compile(r"\s-[a-zA-Z]*[en]\s*(?:'[^']*|\"[^\"]*)\Z")
SCRIPT: Final = re.compile(r"\s-[a-zA-Z]*s\s*(\S+)|\s((?:\S*/)?[\w.+-]+\.(?:d|bt|stp))(?=\s|$)")
CLAUSE: Final = re.compile(r"([^{}]*)\{((?:[^{}]|\{[^{}]*\})*)\}")
AGGREGATION: Final = re.compile(r"@\w*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*(?:=\s*\w+\((?:[^()]|\([^()]*\))*\)|\+\+|\+=[^;]+)")
# Actions that only print, end or clear ask no question.
PRINTING: Final = re.compile(r"(?:\s*(?:printa?|printf|clear|zero|trunc|normalize|exit|print)\([^;]*\)\s*(?:;|$))*\s*")
HIDDEN: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\{[^{}]*\}")
SEVERAL: Final = re.compile(r"[;&]")
PROMPT: Final = r"(?:\[?[\w.-]{1,40}@[^#$%>]{1,100}[#$%>]|[#$%])\s+"
TOOL: Final = rf"(?:{BEFORE.pattern})?(?:\S*/)?(?:dtrace|bpftrace|stap)\s+(?:-\S|\S+\.(?:d|bt|stp)\b).*"
ANY_SCRIPT: Final = r"(?:(?:sudo|pfexec)\s+)?(?:\.{0,2}/\S+|\S+\.(?:d|bt|stp))(?:\s.*)?"
PASTED: Final = re.compile(rf"(?:{PROMPT})?(?P<tool>{TOOL})|{PROMPT}(?P<script>{ANY_SCRIPT})", re.DOTALL)
# Options with a process, a thread or a user: the next word is no interval.
TAKES_NUMBER: Final = frozenset({"-p", "-P", "-t", "-u", "--pid", "--tid"})
# A file's name without the days and numbers in it.
DAYS: Final = re.compile(r"[-_.]?\d[\d._:T-]*")
FILE_ENDING: Final = re.compile(r"\.[A-Za-z]\w{0,9}$")
# A file named after its tracer alone does not tell the question.
TOOLS: Final = TRACERS | {"bcc", "systemtap", "perf_tools", "perf-tools"}


class Rank(IntEnum):
    """How sure a name is: a later one of at least the same rank replaces it."""

    NONE = 0
    HINT = 1
    PROGRAM = 2
    TITLE = 3


@dataclass(frozen=True, slots=True)
class TracedQuestion:
    """The name of a question; empty where it has none."""

    name: str = ""
    rank: Rank = Rank.NONE

    def of(self, instance: str) -> str:
        """Return the instance with the question.

        >>> TracedQuestion("reads").of("java"), TracedQuestion("reads").of("{[1, 2)}"), TracedQuestion().of("java")
        ('reads: java', 'reads{[1, 2)}', 'java')
        """
        if not self.name or not instance or instance.startswith("{"):
            return self.name + instance
        return f"{self.name}: {instance}"

    def then(self, other: "TracedQuestion") -> "TracedQuestion":
        """Return what the question is after this was read."""
        return other if other.rank >= self.rank and other.name else self


def question_of(command: str) -> TracedQuestion:
    """Return the question that a command line asks.

    >>> question_of("dtrace -q -n 'syscall:::entry { @[execname] = count(); } tick-10s { printa(@); clear(@); }'").name
    'syscall:::entry @[execname] = count()'
    >>> [question_of(text).name for text in ("@60 dtrace -s /opt/opens.d 5", "./hotkernel -m 5 3", "biolatency-bpfcc 1")]
    ['opens', 'hotkernel -m', 'biolatency']
    >>> question_of("bpftrace -e 'kprobe:vfs_read { @ = hist(arg2); }' # reads by size").name, question_of("dtrace").name
    ('reads by size', '')
    """
    command = " ".join(LOOP.sub("", command.strip(), count=1).split())
    hidden = HIDDEN.sub(lambda found: "x" * len(found[0]), command)
    comment = COMMENT.search(hidden)
    if comment is not None:
        return TracedQuestion(_cut(command[comment.start(1) :].strip()), Rank.TITLE)
    command = BEFORE.sub("", command, count=1) if BEFORE.match(command) else command
    hidden = hidden[len(hidden) - len(command) :]
    if not command or SEVERAL.search(hidden) is not None:
        return TracedQuestion()
    end = hidden.find("|")
    command = command[:end].strip() if end >= 0 else command
    tool = ENDINGS.sub("", command.split()[0].rpartition("/")[2])
    if tool not in TRACERS:
        return TracedQuestion(_cut(" ".join([tool, *_arguments(command.split()[1:])])), Rank.HINT)
    program = PROGRAM.search(command)
    if program is not None:
        text = " ".join((found[1] or found[2] or found[3] or "").strip() for found in PROGRAM.finditer(command))
        return TracedQuestion(brief_program(text), Rank.PROGRAM)
    script = SCRIPT.search(command)
    return TracedQuestion() if script is None else TracedQuestion(script_name(script[1] or script[2]), Rank.PROGRAM)


def script_name(path: str) -> str:
    """Return the name of a script without its folders and its ending."""
    return _cut(ENDINGS.sub("", path.strip().rpartition("/")[2]))


def brief_program(text: str) -> str:
    """Return the probes of a program with their aggregations, or all of a program without any.

    Programs that differ in the rest, such as predicates of other clauses, differ in the checksum at the end.

    >>> brief_program("io:::start /pid == 7/ { @[execname] = sum(args[0]->b_bcount); } tick-1s { exit(0); }")
    'io:::start /pid == 7/ @[execname] = sum(args[0]->b_bcount)'
    >>> brief_program("syscall:::entry { self->t = timestamp; } syscall:::return { @[probefunc] = sum(timestamp - self->t); }")
    'syscall:::return @[probefunc] = sum(timestamp - self->t) #8fd12c18'
    """
    text = " ".join(text.split())
    parts, is_all = [], True
    for probe, body in CLAUSE.findall(text):
        found = [" ".join(aggregation.split()) for aggregation in AGGREGATION.findall(body)]
        if found:
            parts.append(f"{probe.strip()} {', '.join(found)}".strip())
            is_all = is_all and not AGGREGATION.sub("", body).strip(" ;")
        else:
            is_all = is_all and PRINTING.fullmatch(body) is not None
    if not parts:
        return _cut(text)
    name = "; ".join(parts)
    return _cut(name if is_all else f"{name} #{_checksum(text)}", text)


def pasted_command(text: str) -> str | None:
    """Return the command line that was pasted above its output. Missing: None for any other line.

    >>> pasted_command("root@db1:~# dtrace -n 'syscall:::entry"), pasted_command("# ./hotkernel 5"), pasted_command("# of calls")
    ("dtrace -n 'syscall:::entry", './hotkernel 5', None)
    """
    found = PASTED.fullmatch(text.strip())
    return None if found is None else found["tool"] or found["script"]


def is_open(command: str) -> bool:
    """Return whether the command continues in the next line: its program has no end yet, or the line ends in a backslash."""
    return (OPEN.search(command) is not None or command.endswith("\\")) and len(command) < MAX_COMMAND


def titled(command: str, title: str | None) -> str:
    """Return the command line with a title, which names its question.

    >>> question_of(titled("dtrace -s x.d", "opened files")).name, question_of(titled("", "reads")).name, titled("x", None)
    ('opened files', 'reads', 'x')
    """
    return command if not title else f"{command} # {' '.join(title.split())}"


def command_of_file(path: str) -> str:
    """Return the question in the name of a recorded file, as a command line.

    >>> command_of_file("web1/io-by-size_2026-11-21.txt"), command_of_file("hotkernel.out.1"), command_of_file("dtrace-3.log")
    ('io-by-size', 'hotkernel', '')
    """
    name = DAYS.sub("", FILE_ENDING.sub("", path.rpartition("/")[2])).strip(" -_.")
    name = FILE_ENDING.sub("", name)
    return "" if name in TOOLS else name.replace(" ", "-")


def _arguments(words: list[str]) -> list[str]:
    """Return the arguments without an interval and a count at their end."""
    kept = list(words)
    while kept and kept[-1].replace(".", "").isdigit() and (len(kept) == 1 or kept[-2] not in TAKES_NUMBER):
        kept.pop()
    return kept


def _cut(name: str, text: str = "") -> str:
    if len(name) <= MAX_LENGTH:
        return name
    return f"{name[: MAX_LENGTH - 12].rstrip()}... #{_checksum(text or name)}"


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8', 'backslashreplace')):08x}"
