"""Stacks: frames as tracers print them, leaf first, and the folded key of a stack, root first.

unix`idle+0x3b
unix`thread_start+0x3
956
"""

import re
from collections.abc import Sequence
from typing import Final

from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.trace.trace_lines import is_integer

MAX_FRAMES: Final = 1000
MAX_CHARACTERS: Final = 16_000
TOO_DEEP: Final = Rejected(f"a stack of more than {MAX_FRAMES} frames or {MAX_CHARACTERS} characters")
SEPARATOR: Final = ";"
# module`function+0x1f, an address alone, function+31, function+0x1f [module].
FRAME: Final = re.compile(
    r".*`.*|.*\S\+0x[0-9a-f]+(?: [\[(]\S+[\])])?|0x[0-9a-f]{5,16}(?: .*)?|[0-9a-f]{12,16}(?: .*)?|[^\s+]+\+\d+(?: \(\S+\))?"
)
# The end of one frame and the beginning of the next, where a line break was lost.
JOINT: Final = re.compile(r"(\+0x[0-9a-f]+) +(?=[^ `]+`)")


def is_frame(text: str) -> bool:
    """Return whether the line has the form of a frame.

    >>> is_frame("  unix`idle+0x3b"), is_frame("  0x7f3a12bc"), is_frame("  vfs_read+145"), is_frame("  bash")
    (True, True, True, False)
    """
    text = text.strip()
    return len(text) <= MAX_CHARACTERS and FRAME.fullmatch(text) is not None and not is_integer(text)


def split_frames(text: str) -> list[str]:
    """Return the frames of a line: one, or more where line breaks were lost.

    >>> split_frames("libjvm.so`java_start+0x22c libc.so.1`_lwp_start")
    ['libjvm.so`java_start+0x22c', 'libc.so.1`_lwp_start']
    """
    return JOINT.sub("\\1\n", " ".join(text.split())).split("\n")


def fold_stack(roots: Sequence[str], lines: Sequence[str]) -> str | None:
    """Return the key of a stack: `roots` (a program, a process id), then the frames of the lines from the last to the first.

    Missing: None for more frames or characters than are taken.

    >>> fold_stack(["java"], ["unix`idle+0x3b", "unix`thread_start+0x3"])
    'java;unix`thread_start+0x3;unix`idle+0x3b'
    """
    frames = [frame for line in lines for frame in split_frames(line)]
    parts = [*(" ".join(root.split()) for root in roots), *reversed(frames)]
    key = SEPARATOR.join(part.replace(SEPARATOR, ":") for part in parts if part)
    return key if len(parts) <= MAX_FRAMES and len(key) <= MAX_CHARACTERS else None


def fold_lines(lines: Sequence[str]) -> str | None:
    """Return the key of a stack from its lines; those before the first frame name what the stack belongs to.

    >>> fold_lines(["java", "unix`idle+0x3b"]), fold_lines(["run", "main"])
    ('java;unix`idle+0x3b', 'main;run')
    """
    first = next((at for at, line in enumerate(lines) if is_frame(line)), 0)
    return fold_stack(lines[:first], lines[first:])
