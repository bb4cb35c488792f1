"""Follow which host the lines of a file are from, and tell those of another host than the first one.

A file is of one host. Where outputs of several hosts were merged into one, the lines say so: banners and `uname -a`, the
headings of Ansible, Salt, dshbak, pssh and tail, prompts, and what a tool puts before every line (stats/engine/line_prefix.py).

    Linux 5.14.0 (web2)     2026-11-20      _x86_64_        (4 CPU)
    web2 | CHANGED | rc=0 >>
    === web2 ===
    ==> logs/web2_vmstat.log <==
    [root@web2 ~]# vmstat 1 3
"""

import re
from enum import Enum, IntEnum
from typing import Final

from normstat.stats.engine.outcome import Rejected

ANOTHER_HOST: Final = Rejected("of another host than the first one of the file: import it with --each-host")
# Names of no host in particular.
NO_NAMES: Final = frozenset({"", "localhost", "(none)"})
MAX_LENGTH: Final = 512
# A line that names a host begins with one of these, or ends with what Ansible puts after a name.
STARTS: Final = (
    b"Linux ", b"SunOS ", b"HP-UX ", b"AIX ", b"==> ", b"[", b"==", b"--", b"##", b"**", b"++", b"~~", b"Host", b"host", b"HOST",
)  # fmt: skip
ENDS: Final = (b" >>", b" => {")
# A text of files of /proc and /sys names a host with one of these lines only.
SIGN: Final = re.compile(rb"^(?:Linux |==> (?!/(?:proc|sys)/)|\[?[\w.-]+@)|(?: >>| => \{)$", re.ASCII | re.MULTILINE)
BANNERS: Final = (
    # sysstat; uname -a; OSWatcher's first line; sar of Solaris, HP-UX and AIX.
    re.compile(rb"Linux \S+ \((?P<host>[^()\s]+)\)[ \t]+\S", re.ASCII),
    re.compile(rb"Linux (?P<host>[\w.-]+) \d+\.\d+\S* #", re.ASCII),
    re.compile(rb"\w+ OSW(?:bb)? v\S+ (?P<host>[\w.-]+)", re.ASCII),
    re.compile(rb"(?:SunOS|HP-UX|AIX) (?P<host>[\w.-]+)[ \t]+(?:\d|[A-Z]\.\d)", re.ASCII),
)
# Words that stand in marks with a number, and are no hosts: runs, and devices.
NO_HOST: Final = (
    rb"(?!(?i:run|test|iter|iteration|sample|pass|round|step|phase|part|case|loop|try|trial|report|interval|day|thread|pid|"
    rb"cpu|core|disk|(?:s|v|xv|h)d[a-z]|nvme|dm|md|eth|en[ops]|bond|tty|v|t|n)[-_.]?\d)"
)
MARKS: Final = rb"(?:={2,}|-{2,}|#{2,}|\*{2,}|\+{2,}|~{2,})"
CALLS: Final = (
    re.compile(rb"(?P<host>\S+) \| [A-Za-z]+!? (?:\| rc=-?\d+ >>|=> \{)", re.ASCII),
    re.compile(rb"\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<host>[\w.@:-]+)", re.ASCII),
    # Loops over ssh: `=== web1 ===`, `### web1`; a name in marks has a digit or a dot. `Host: web1`; what ssh asks.
    re.compile(
        MARKS
        + rb"[ \t]*(?:(?i:host(?:name)?|server|node)[ \t]*[:=]?[ \t]+)?"
        + NO_HOST
        + rb"(?P<host>[A-Za-z][A-Za-z0-9-]*[0-9.][A-Za-z0-9.-]*)[ \t]*:?[ \t]*[-=#*<+~]*[ \t]*\Z",
        re.ASCII,
    ),
    re.compile(rb"(?i:host ?name|host)[ \t]*[:=][ \t]*(?P<host>[A-Za-z][A-Za-z0-9.-]{0,80})[ \t]*\Z", re.ASCII),
    re.compile(rb"[\w.-]{1,40}@(?P<host>[\w.-]{1,80})'s password:.{0,20}\Z", re.ASCII),
)
TAIL: Final = re.compile(rb"==> (?P<path>\S[^<>]{0,300}) <==")
PROMPT: Final = re.compile(rb"\[?[\w.-]{1,40}@(?P<host>[\w.-]{1,80})(?:[: ][^#$%>]{0,100})?[#$%>][ \t]*\S", re.ASCII)
BARE_PROMPT: Final = re.compile(
    rb"(?:[\w.-]{0,40}(?::[\w/~.-]{0,80})?|\[?[\w.-]{1,40}@[^#$%>]{1,100})[#$%][ \t]+(?P<command>.*)", re.ASCII
)
# What script(1) writes around a session.
SCRIPT_LINES: Final = (b"Script started on ", b"Script done on ")
# Of a path of another host's system only what stands before /proc or /sys tells the host.
SYSTEM: Final = re.compile(r"(?:^|/)(?:proc|sys)/")
RULE: Final = re.compile(rb"-{4,}")
# Salt: the name of a minion alone on a line, and its output below, indented. Words of tools have neither digit nor dot.
MINION: Final = re.compile(rb"(?P<host>[a-z][a-z0-9-]*[0-9.][a-z0-9.-]*):", re.ASCII)
INDENT: Final = b"    "
WORD: Final = re.compile(rb"[A-Za-z][\w.-]{0,80}(?:\[[\d,-]+\])?", re.ASCII)


class HostSource(IntEnum):
    """What names a host; the first of them is the widest: inside a part of another host, narrower ones say nothing."""

    PREFIX = 0
    HEADING = 1
    PROMPT = 2
    BANNER = 3
    # A column or a key of the tool's own lines, which the reader looks at.
    LINE = 4


def is_session_line(line: bytes, tool: str) -> bool:
    """Return whether a line is of the session in which the tool was called: a shell's prompt, or `uname -a`.

    >>> [is_session_line(line, "vmstat") for line in (b"$ vmstat 1", b"root@web1:~# date", b"# 12", b"$ ")]
    [True, True, False, True]
    """
    if line.startswith(SCRIPT_LINES) or PROMPT.match(line) is not None or BANNERS[1].match(line) is not None:
        return True
    prompt = BARE_PROMPT.fullmatch(line) if len(line) <= MAX_LENGTH else None
    return prompt is not None and (not prompt["command"] or tool.encode() in re.findall(rb"[\w.+-]+", prompt["command"]))


def is_same_host(first: str, second: str) -> bool:
    """Return whether two names are one host's: the short name and the full one are.

    >>> is_same_host("web1", "WEB1.example.com"), is_same_host("web1.a.com", "web1.b.com"), is_same_host("web1", "web2")
    (True, False, False)
    """
    first, second = first.lower(), second.lower()
    if first == second:
        return True
    is_short = "." not in first or "." not in second
    return is_short and first.partition(".")[0] == second.partition(".")[0]


class HostHeading(Enum):
    """What a line that names a host is, where it is nothing else: the heading of a call of the tool, or of more of a file."""

    CALL = 0
    PART = 1
    # The line before it named the host: this one is the first of a call.
    BELOW = 2


class Hosts:
    """The hosts that the lines of a stream named so far. Kept in the reader's state.

    `reads_files`: the reader's samples are from several files each, whose names stand above them.
    """

    __slots__ = ("_first", "_minion", "_others", "_reads_files", "_word", "is_other")

    def __init__(self, state: object, *, reads_files: bool) -> None:
        self._first: dict[int, str] = {}
        self._others: set[int] = set()
        # The word after a line of dashes, None elsewhere: dshbak puts a host's name between two of them.
        self._word: str | None = None
        # The name on the line before, which is a host's if this one is indented; "" for any other line.
        self._minion = ""
        self._reads_files = reads_files
        if isinstance(state, list) and len(state) in (3, 4):
            first, others, word, *minion = state
            self._minion = str(minion[0]) if minion else ""
            self._first = {int(kind): str(name) for kind, name in first}
            self._others = set(map(int, others))
            self._word = word if isinstance(word, str) else None
        # Whether the present lines are another host's than the first one's, so that no reader need look at them.
        self.is_other = bool(self._others - {HostSource.LINE})

    def to_state(self) -> list[object] | None:
        """Return the state for a new object. Missing: None while no line named a host."""
        if not self._first and self._word is None and not self._minion:
            return None
        minion = [self._minion] if self._minion else []
        return [[list(pair) for pair in sorted(self._first.items())], sorted(self._others), self._word, *minion]

    def is_line_of_another(self, name: str) -> bool:
        """Note the host that a line itself says it is from, and return whether it is another one than the first."""
        self.see(HostSource.LINE, name)
        return HostSource.LINE in self._others

    def see(self, source: HostSource, name: str) -> None:
        """Note the name of the host that the next lines are from."""
        if name.lower().partition(".")[0] in NO_NAMES or any(other < source for other in self._others):
            return
        if is_same_host(self._first.setdefault(source, name), name):
            self._others.discard(source)
        else:
            self._others.add(source)
        self.is_other = bool(self._others - {HostSource.LINE})

    def take(self, line: bytes) -> HostHeading | None:
        """Note the host that a line names, if it names one. Missing: None for a line that is not only a heading."""
        if (self._word is not None or line.startswith(b"----")) and self._is_between_rules(line):
            return HostHeading.CALL
        if (self._minion or line.endswith(b":")) and self._is_below_minion(line):
            return HostHeading.BELOW
        if not (line.startswith(STARTS) or line.endswith(ENDS) or b"@" in line) or len(line) > MAX_LENGTH:
            return None
        for call in CALLS:
            found = call.match(line)
            if found is not None:
                self.see(HostSource.HEADING, found["host"].decode())
                return HostHeading.CALL
        tail = TAIL.fullmatch(line.strip())
        if tail is not None:
            self.see(HostSource.HEADING, self._host_of_path(tail["path"].decode("utf-8", "replace")))
            return None if self._reads_files else HostHeading.PART
        for source, patterns in ((HostSource.BANNER, BANNERS), (HostSource.PROMPT, (PROMPT,))):
            for pattern in patterns:
                found = pattern.match(line)
                if found is not None:
                    self.see(source, found["host"].decode())
                    return None
        return None

    def _is_below_minion(self, line: bytes) -> bool:
        """Note a line that is a name and a colon. Return whether the line is the first one below such a name."""
        minion, found = self._minion, MINION.fullmatch(line)
        self._minion = found["host"].decode() if found is not None and not self._reads_files else ""
        if not minion or not line.startswith(INDENT):
            return False
        self.see(HostSource.HEADING, minion)
        return True

    def _host_of_path(self, path: str) -> str:
        """Return what tells the host of a file: "" where nothing does."""
        system = SYSTEM.search(path)
        if system is not None:
            return path[: system.start()]
        return path.rpartition("/")[0] if self._reads_files else path

    def _is_between_rules(self, line: bytes) -> bool:
        """Note a line of dashes, or the word after it. Return whether it is the second line of dashes, after a name."""
        bare = line.strip()
        if RULE.fullmatch(bare) is not None:
            name, self._word = self._word, None if self._word else ""
            if name:
                self.see(HostSource.HEADING, name)
            return bool(name)
        if self._word is not None:
            self._word = bare.decode() if self._word == "" and WORD.fullmatch(bare) is not None else None
        return False
