"""How the output of a command is kept as evidence of the host on which it runs: piped into `normstat-agent put`."""

import re
import shlex
from typing import Final

# Tools whose output is an artefact (artefacts/tools.py).
TOOLS: Final = frozenset({
    "bpftrace", "dtrace", "iozone", "lockstat", "ltrace", "mcelog", "perf", "plockstat", "pstack", "strace", "truss",
})  # fmt: skip
BCC: Final = "-bpfcc"
# What runs another command.
RUNNERS: Final = re.compile(r"(?:sudo\s+|timeout\s+(?:-\S+\s+(?:[A-Z]+\s+)?)*\S+\s+)*")
# These print what they found to standard error.
TO_STDERR: Final = re.compile(r"(?:truss|strace|ltrace|perf (?:stat|trace))\b")
COMPOUND: Final = re.compile(r"[;&]")
QUOTED: Final = re.compile(r"'[^']*'")


def keep_form(run: str, question: str) -> str:
    """Return the command line that runs the command and keeps what it prints. Missing: "" where that is no artefact.

    >>> keep_form("lockstat -C -D 20 sleep 10", "Which locks?")
    "lockstat -C -D 20 sleep 10 | normstat-agent put --question 'Which locks?' --command 'lockstat -C -D 20 sleep 10'"
    >>> keep_form("truss -c -p 7 & sleep 10; kill -INT $!", "Why?").startswith("( truss -c -p 7 & sleep 10; kill -INT $! ) 2>&1 | ")
    True
    >>> keep_form("prstat -mLc 1 5", "Who?")
    ''
    """
    bare = run[RUNNERS.match(run).end() :]  # type: ignore[union-attr]
    tool = bare.split(None, 1)[0]
    if tool not in TOOLS and not tool.endswith(BCC):
        return ""
    piped = f"( {run} )" if COMPOUND.search(QUOTED.sub("", run)) else run
    stderr = " 2>&1" if TO_STDERR.match(bare) and "2>&1" not in run else ""
    return f"{piped}{stderr} | normstat-agent put --question {shlex.quote(question)} --command {shlex.quote(run)}"
