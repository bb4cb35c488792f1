"""Thread dumps: jstack of a JVM, gdb's `thread apply all bt` (pstack of Linux), pstack of Solaris. Each thread weighs one.

"main" #1 prio=5 os_prio=0 tid=0x00007f nid=0x1b runnable [0x00007f]
   java.lang.Thread.State: RUNNABLE
        at java.net.SocketInputStream.read(SocketInputStream.java:170)

Thread 2 (Thread 0x7f1ea1 (LWP 4712)):
#0  0x00007f in poll () from /lib64/libc.so.6

-----------------  lwp# 1 / thread# 1  --------------------
 fef5a0c7 lwp_park (0, 0, 0)
"""

import re
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import Final

from normstat.artefacts.stack_reading import MAX_FRAMES, StackReading, clean_frame, weight_column
from normstat.artefacts.stack_tree import StackTreeBuilder

THREADS: Final = weight_column("count", "threads", "", "Threads with this stack.")
JAVA_THREAD: Final = re.compile(rb'"(?P<name>[^"\n]{0,2000})".*')
JAVA_STATE: Final = re.compile(rb"java\.lang\.Thread\.State: ([A-Z_]+).*")
JAVA_FRAME: Final = re.compile(rb"at ([^\s(]+)\(.*")
# pool-1-thread-7: the number at the end is what tells threads of a pool apart.
POOL: Final = re.compile(r"[-# ](\d+)$")
GDB_THREAD: Final = re.compile(rb"Thread \d+ \(.*?(?:LWP (?P<lwp>\d+))?\).*:")
GDB_FRAME: Final = re.compile(rb"#\d+\s+(?:0x[0-9a-f]+ in )?(?P<name>\S.*?) ?\((?:.*)")
LWP: Final = re.compile(rb"-{3,}\s+(?:lwp|thread)# (?P<lwp>\d+).*-{3,}")
SOLARIS_FRAME: Final = re.compile(rb"[0-9a-f]{5,16} (?P<name>[^\s(]+)\s*(?:\(.*|\+ [0-9a-f]+.*)?")
SOLARIS_HEAD: Final = re.compile(rb"(?P<pid>\d+):\t(?P<command>.*)")


def is_jstack(lines: Sequence[bytes]) -> bool:
    """Return whether the lines are a dump of a JVM's threads."""
    return any(JAVA_THREAD.fullmatch(line) for line in lines) and any(JAVA_STATE.fullmatch(line.strip()) for line in lines)


def is_pstack(lines: Sequence[bytes]) -> bool:
    """Return whether the lines are stacks of gdb or of Solaris' pstack."""
    for pattern, frame in ((GDB_THREAD, GDB_FRAME), (LWP, SOLARIS_FRAME), (SOLARIS_HEAD, SOLARIS_FRAME)):
        if any(pattern.fullmatch(line) and frame.fullmatch(following.strip()) for line, following in pairwise(lines)):
            return True
    return False


def read_jstack(data: bytes, command: str) -> StackReading:  # noqa: ARG001 (as all formats)
    """Return the threads of one dump or several, by name and state."""
    found, dump = StackReading(), _Dump("jstack")
    for line_no, raw in enumerate(BytesIO(data), 1):
        line = raw.strip()
        found.n_lines += 1
        if (thread := JAVA_THREAD.fullmatch(line)) is not None and raw[:1] == b'"':
            dump.end(found, line_no)
            dump.roots = [POOL.sub(r"/\1", _text(thread["name"]))]
        elif (state := JAVA_STATE.fullmatch(line)) is not None and dump.roots:
            dump.roots.append(_text(state[1]))
        elif (frame := JAVA_FRAME.fullmatch(line)) is not None and dump.roots:
            dump.frames.append(_text(frame[1]))
        elif not line:
            dump.end(found, line_no)
        elif line.startswith(b"at "):
            found.reject(line_no, line, "a frame without a thread before it")
    dump.end(found, found.n_lines)
    return dump.finish(found)


def read_pstack(data: bytes, command: str) -> StackReading:  # noqa: ARG001 (as all formats)
    """Return the threads of gdb's or Solaris' stacks."""
    found, dump, program = StackReading(), _Dump("pstack"), "thread"
    for line_no, raw in enumerate(BytesIO(data), 1):
        line = raw.strip()
        found.n_lines += 1
        if (head := SOLARIS_HEAD.fullmatch(line)) is not None:
            dump.end(found, line_no)
            program = _text(head["command"].split(b" ")[0].rpartition(b"/")[2]) or program
            dump.roots = [f"{program}/{_text(head['pid'])}"]
        elif (thread := GDB_THREAD.fullmatch(line) or LWP.fullmatch(line)) is not None:
            dump.end(found, line_no)
            dump.roots = [f"{program}/{_text(thread['lwp'])}" if thread["lwp"] else program]
        elif not line:
            dump.end(found, line_no)
        elif (frame := GDB_FRAME.fullmatch(line) or SOLARIS_FRAME.fullmatch(line)) is not None:
            dump.roots = dump.roots or [program]
            dump.frames.append(_text(frame["name"]))
        elif dump.frames and not line.startswith((b"#", b"[")):
            found.reject(line_no, line, "no frame of a stack")
    dump.end(found, found.n_lines)
    return dump.finish(found)


class _Dump:
    """The threads of a dump; frames come from the leaf."""

    def __init__(self, stat: str) -> None:
        self._stat = stat
        self._builder = StackTreeBuilder([THREADS])
        self.roots: list[str] = []
        self.frames: list[str] = []

    def end(self, found: StackReading, line_no: int) -> None:
        """Add the thread that was read."""
        if self.roots and self.frames:
            if len(self.frames) > MAX_FRAMES:
                found.reject(line_no, self.roots[0].encode(), f"a stack of more than {MAX_FRAMES:,} frames")
            else:
                self._builder.add([*self.roots, *reversed(self.frames)], [1])
        self.roots, self.frames = [], []

    def finish(self, found: StackReading) -> StackReading:
        """Return the reading with the part of all threads."""
        if self._builder.n_stacks:
            found.parts = [self._builder.build(stat=self._stat, title="Stacks of threads", weight="count")]
        return found


def _text(data: bytes) -> str:
    return clean_frame(data.decode("utf-8", "replace"))
