"""Find the command that was pasted above a tool's output: the line with the shell's prompt. Pure.

# dtrace -q -n 'syscall::read:entry
        /execname == "amqrmppa"/ { @[tid] = count();}
        tick-10s { normalize(@,10); printa(@); clear(@); }'

        5             2563
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from normstat.artefacts.tools import TOOLS

# `# `, `$ `, `% `, `root@server:~# `, `[root@web1 ~]# `, `web1$ `: what stands before the sign has a blank in brackets only.
PROMPT: Final = re.compile(r"(?:\[[^\]\n]{1,100}\] ?|[\w.@:~/+-]{0,100})[#$%] (?P<command>\S.*)")
# What stands before the tool's name in a command.
WRAPPERS: Final = frozenset({"sudo", "pfexec", "doas", "env", "nice", "timeout", "exec"})
# Names that tools of artefacts are called by, besides their own; BCC's are any-bpfcc, or below a folder bcc.
CALLED: Final = TOOLS | {"stap", "operf", "opannotate", "jstack", "pstack", "gstack", "funccount", "funclatency"}
BCC: Final = re.compile(r"\S+-bpfcc|\S*/bcc/\S+")
# The header of strace -c, which is no prompt of a C shell.
STRACE: Final = re.compile(r"time\s{2}")
OPTION: Final = re.compile(r"-\S+|\d+[smh]?|\w+=\S*")
MAX_LINES: Final = 40
MAX_COMMAND: Final = 4000
# Lines above the output in which the prompt is looked for; a longer text above it is no copied session.
MAX_ABOVE: Final = 4


@dataclass(frozen=True, slots=True)
class PastedText:
    """A text without the command above it. `command` is "" where there is none; the lines of it are empty ones in `data`."""

    command: str
    data: bytes


def take_pasted_command(data: bytes) -> PastedText:
    """Return the command of the one call that a text is of, and the text without it.

    Missing: a text of several calls is of no single one, and is left as it is

    >>> take_pasted_command(b"# lockstat sleep 5\\n\\nAdaptive mutex spin: 3318 events\\n").command
    'lockstat sleep 5'
    >>> take_pasted_command(b"web1$ dtrace -n 'tick-10s\\n  { exit(0); }'\\n  5   1\\n")
    PastedText(command="dtrace -n 'tick-10s\\n  { exit(0); }'", data=b'\\n\\n  5   1\\n')
    >>> take_pasted_command(b"# cmdline : perf record -a\\n").command, take_pasted_command(b"% time     seconds  calls\\n").command
    ('', '')
    """
    lines = data.split(b"\n")
    above = [at for at, line in enumerate(lines[: MAX_ABOVE * 2]) if line.strip()][:MAX_ABOVE]
    first = next((at for at in above if _call(lines[at])), None)
    if first is None:
        return PastedText("", data)
    command, last = _call(lines[first]), first
    while _is_open(command) and last + 1 < min(len(lines), first + MAX_LINES):
        last += 1
        command += "\n" + lines[last].decode("utf-8", "replace").rstrip()
    if _is_open(command) or len(command) > MAX_COMMAND or any(_call(line) for line in lines[last + 1 :] if line[:200].strip()):
        return PastedText("", data)
    kept = [b"" if first <= at <= last else line for at, line in enumerate(lines)]
    return PastedText(command.replace("\x00", ""), b"\n".join(kept))


def _call(line: bytes) -> str:
    """Return the call of a known tool behind a prompt. Missing: "" for another line."""
    found = PROMPT.fullmatch(line[:MAX_COMMAND].decode("utf-8", "replace").rstrip())
    if found is None or STRACE.match(found["command"]):
        return ""
    words = found["command"].split()
    while words and (words[0] in WRAPPERS or OPTION.fullmatch(words[0])):
        words.pop(0)
    is_known = bool(words) and (PurePosixPath(words[0]).name in CALLED or BCC.fullmatch(words[0]) is not None)
    return found["command"] if is_known else ""


def _is_open(command: str) -> bool:
    """Return whether a command goes on in the next line: in quotes, or after a backslash.

    >>> [_is_open(text) for text in ("a 'b", "a \\"it's\\"", "a \\\\", "a \\\\' b")]
    [True, False, True, False]
    """
    quote = ""
    at = 0
    while at < len(command):
        sign = command[at]
        if sign == "\\" and quote != "'":
            if at + 1 == len(command):
                return True
            at += 1
        elif sign in "'\"":
            quote = sign if not quote else "" if sign == quote else quote
        at += 1
    return bool(quote)
