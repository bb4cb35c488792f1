r"""Apply the characters that move a terminal's cursor and set its colours, for recordings of one.

>>> shown(b"\x1b[?2004l\r\x1b[1mprocs\x1b[0m r  b"), shown(b"Please wait...\r   PID USERNAME")
(b'procs r  b', b'   PID USERNAME')
"""

import re
from typing import Final

ESCAPE: Final = b"\x1b"
# Control sequences (colours, modes), those for the operating system (titles), device control, single escapes, shifts of charsets.
SEQUENCE: Final = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,1000}\x1b\\|[ -/]+[0-~]|[0-Z\\^-~])"
    rb"|[\x0e\x0f]"
)
# The cursor goes right: tools write it for blanks.
RIGHT: Final = re.compile(rb"\x1b\[(\d{0,3})C")


# The cursor goes to the upper left: another screen begins, on the same line of the recording.
HOME: Final = re.compile(rb"(?=\x1b\[(?:1;1|0;0|1)?[Hf])")


def shown(line: bytes) -> bytes:
    """Return a line as a terminal shows it: without sequences of control, and after a carriage return what was written over it."""
    if ESCAPE in line:
        line = RIGHT.sub(lambda found: b" " * int(found[1] or b"1"), line) if b"C" in line else line
        line = SEQUENCE.sub(b"", line)
    if b"\r" in line:
        parts = line.split(b"\r")
        line = parts[0]
        for part in parts[1:]:
            line = part + line[len(part) :]
    return line


def screens(raw: bytes) -> list[bytes]:
    r"""Return the parts of a line that are on different screens, such as those of top without -b.

    >>> screens(b"  1 init\x1b[J\x1b[Htop - 10:00:04"), screens(b"procs")
    ([b'  1 init\x1b[J', b'\x1b[Htop - 10:00:04'], [b'procs'])
    """
    found = [b""]
    for part in HOME.split(raw) if b"\x1b[" in raw else [raw]:
        if shown(found[-1]).strip():
            found.append(part)
        else:
            # Text written before it is no longer visible.
            found[-1] += part
    return found
