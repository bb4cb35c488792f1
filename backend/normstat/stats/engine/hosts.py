"""Follow the host of the lines of a file, and find the lines of any host but the first.

A file is of one host. Where outputs of several hosts were merged into one, the lines say so: banners and `uname -a`, the
headings of Ansible, Salt, dshbak, pssh and tail, prompts, and what a tool puts before every line (stats/engine/line_prefix.py).
A name that stands alone on a line is a host's only if the line below it begins as the one below an earlier name did, which is
how loops over `ssh` print them.

    Linux 5.14.0 (web2)     2026-11-20      _x86_64_        (4 CPU)
    web2 | CHANGED | rc=0 >>
    === web2 ===
    ==> logs/web2_vmstat.log <==
    [root@web2 ~]# vmstat 1 3
    [root@adm ~]# ssh web2 vmstat 1 3
    [web2] out:
    procs -----------memory---------- ---swap-- -----io----
"""

import re
from enum import Enum, IntEnum
from typing import Final

from normstat.stats.engine.ahead import MORE, Ahead, More
from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.records import State

ANOTHER_HOST: Final = Rejected("of another host than the first one of the file: import it with --each-host")
# Names of no host in particular.
NO_NAMES: Final = frozenset({"", "localhost", "(none)"})
MAX_LENGTH: Final = 512
# A line that names a host begins with one of these, or ends with what Ansible puts after a name.
STARTS: Final = (
    b"Linux ", b"Every ", b"SunOS ", b"HP-UX ", b"AIX ", b"==> ", b"[", b"==", b"--", b"##", b"**", b"++", b"~~",
    b"Host", b"host", b"HOST",
)  # fmt: skip
ENDS: Final = (b" >>", b" => {", b"] =>", b"] => ")
# A text of files of /proc and /sys names a host with one of these lines only.
SIGN: Final = re.compile(
    rb"^(?:Linux |Every |==> (?!/(?:proc|sys)/)|(?:==|--|##|\*\*|\+\+|~~)[ \t=*#+~-]*\w|(?i:host)|\[?[\w.-]+@"
    rb"|\[?(?:[A-Za-z][\w.-]*[\d.][\w.-]*|\d+(?:\.\d+){3})\]?:?\r?$)|(?: >>| => \{?)$",
    re.ASCII | re.MULTILINE,
)
BANNERS: Final = (
    # sysstat; uname -a; OSWatcher's first line; sar of Solaris, HP-UX and AIX.
    re.compile(rb"Linux \S+ \((?P<host>[^()\s]+)\)[ \t]+\S", re.ASCII),
    re.compile(rb"Linux (?P<host>[\w.-]+) \d+\.\d+\S* #", re.ASCII),
    re.compile(rb"Every \d{1,6}[.,]\ds: .{1,400}?  +(?P<host>[\w.-]{1,80}): \w{3} \w{3} ", re.ASCII),
    re.compile(rb"\w+ OSW(?:bb)? v\S+ (?P<host>[\w.-]+)", re.ASCII),
    re.compile(rb"(?:SunOS|HP-UX|AIX) (?P<host>[\w.-]+)[ \t]+(?:\d|[A-Z]\.\d)", re.ASCII),
)
# Words with a number that are no hosts: runs, files of them, devices, and protocols.
NO_HOST: Final = (
    rb"(?!(?i:run|test|iter|iteration|sample|pass|round|step|phase|part|case|loop|try|trial|report|interval|day|thread|pid|"
    rb"log|out|output|file|[a-z]*stat|sar|top|before|after|tcp|udp|udplite|icmp|ip|nfs|ipv|icmpv|nfsv|smb|"
    rb"cpu|core|disk|(?:s|v|xv|h)d[a-z]|nvme|dm|md|eth|en[ops]|bond|net|ixgbe|igb|e1000g|bge|nxge|vnet|lo|c\d{1,3}t|tty|v|t|n)[-_.]?\d)"
)
# A name with a digit or a dot, or an address; others may be any word.
HOST: Final = NO_HOST + rb"(?=[A-Za-z-]*[0-9.])[A-Za-z](?:[A-Za-z0-9.-]{0,80}[A-Za-z0-9])?|\d{1,3}(?:\.\d{1,3}){3}"
MARKS: Final = rb"(?:={2,}|-{2,}|#{2,}|\*{2,}|\+{2,}|~{2,})"
ADDRESS: Final = rb"(?:[ \t]*\([\w.:-]{1,60}\))?"
CALLS: Final = (
    re.compile(rb"(?P<host>\S+) \| [A-Za-z]+!? (?:\| rc=-?\d+ >>|=> \{)", re.ASCII),
    re.compile(rb"(?:ok|changed|fatal|failed): \[(?P<host>[\w.-]+)\](?:: [A-Z]+!)? =>", re.ASCII),
    re.compile(rb"\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<host>[\w.@:-]+)", re.ASCII),
    # Loops over ssh: `=== web1 ===`, `### web1`. `Host: web1`; what ssh asks.
    re.compile(
        MARKS
        + rb"[ \t]*(?:(?i:host(?:name)?|server|node)[ \t]*[:=]?[ \t]+)?(?P<host>"
        + HOST
        + rb")"
        + ADDRESS
        + rb"[ \t]*:?[ \t]*[-=#*<+~]*[ \t]*\Z",
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
# A command that runs on another host, after a prompt; the words of a loop over hosts.
SSH: Final = re.compile(
    rb"(?:\S*/)?(?:ssh|rsh)(?:[ \t]+-(?:[bcDEeFIiJLlmOopQRSWw][ \t]*\S+|[46AaCfGgKkMNnqsTtVvXxYy]+))*"
    rb"[ \t]+(?:[\w.-]+@)?(?P<host>[\w.-]{1,80})[ \t]+[^\s;|&]",
    re.ASCII,
)
LOOP: Final = re.compile(
    rb"\bfor[ \t]+\w+[ \t]+in[ \t]+(?P<words>[\w. -]{1,400}?)[ \t]*;[ \t]*do\b.*\b(?:ssh|rsh|zlogin|hostname|exec)\b", re.ASCII
)
# Lines that script(1) writes around a session.
SCRIPT_LINES: Final = (b"Script started on ", b"Script done on ")
# In a path of another host's system only the part before /proc or /sys identifies the host.
SYSTEM: Final = re.compile(r"(?:^|/)(?:proc|sys)/")
RULE: Final = re.compile(rb"(?:-{4,}|={4,}|\*{4,}|#{4,}|:{4,})")
WORD: Final = re.compile(rb"[A-Za-z][\w.-]{0,80}(?:\[[\d,-]+\])?", re.ASCII)
# A line that is a name and what loops and tools put around it.
MAX_LABEL: Final = 200
LABEL: Final = re.compile(
    rb"(?:[-=*#>~]{1,3}>?[ \t]+)?"
    rb"(?i:(?:(?:output|results?|connecting|connected|finished|started|running|executing)[ \t]+)?(?:on|from|of|to|for)[ \t]+"
    rb"|(?:server|node|host)[ \t]*[:=]?[ \t]+)?"
    rb"[\[(<{]?(?:[\w.-]{1,40}@)?(?P<host>[\w.-]{1,80})(?::\d{1,5})?[\])>}]?"
    + ADDRESS
    + rb"(?:[ \t]+(?:(?:run|sudo):[ \t].{1,120}|(?:std)?out|output))?[ \t]*(?::|-+>|=+>|>+|\.{3})?[ \t]*",
    re.ASCII,
)
NAME: Final = re.compile(HOST, re.ASCII)
# Lines between a name and the output below it: blank ones, and rules.
MAX_BETWEEN: Final = 3
MAX_LABELS: Final = 16
N_STATE: Final = 4
# Salt: the name of a minion above its output, which is indented. Words of tools have neither digit nor dot.
MINION: Final = re.compile(rb"[a-z][a-z0-9-]*[0-9.][a-z0-9.-]*:", re.ASCII)
INDENT: Final = b"    "
MIN_SENTENCE: Final = 2
# Characters of a line without blanks that is several cells, or JSON.
SEPARATORS: Final = re.compile(rb"[,;:|{\[].|[{\[]")
NUMBER: Final = re.compile(rb"-?\d[\d.,]*%?", re.ASCII)
WORD_END: Final = re.compile(rb"(?<=.)[:,;|]")
DIGITS: Final = re.compile(rb"\d+")


class HostSource(IntEnum):
    """Kinds of lines that name a host, the widest first: inside a part of another host, narrower ones are ignored."""

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


def names_in(hosts: object) -> list[str]:
    """Return the names of the first host in the state of `Hosts`, the widest first (HostSource), then those that stood alone."""
    if not isinstance(hosts, list) or len(hosts) != N_STATE:
        return []
    return [str(name) for _, name in (*hosts[0], *hosts[2])]


def start_of_others(state: State) -> State:
    """Return the state in which a reader begins with the lines of the other hosts of a text: it knows the words of a loop."""
    hosts = state.get("hosts")
    return {"hosts": [[], [], [], hosts[3]]} if isinstance(hosts, list) and len(hosts) == N_STATE else {}


class HostHeading(Enum):
    """The role of a line that only names a host: the heading of a call of the tool, or of more of a file."""

    CALL = 0
    PART = 1


class Hosts:
    """The hosts that the lines of a stream named so far. Kept in the reader's state.

    `reads_files`: the reader's samples are from several files each, whose names stand above them.
    """

    __slots__ = ("_first", "_labels", "_listed", "_others", "_reads_files", "is_other")

    def __init__(self, state: object, *, reads_files: bool) -> None:
        self._first: dict[int, str] = {}
        self._others: set[int] = set()
        # The first name that stood alone above a line, by how that line began; and the words of a loop over hosts.
        self._labels: dict[str, str] = {}
        self._listed: list[str] = []
        self._reads_files = reads_files
        if isinstance(state, list) and len(state) == N_STATE:
            first, others, labels, listed = state
            self._first = {int(kind): str(name) for kind, name in first}
            self._others = set(map(int, others))
            self._labels = {str(shape): str(name) for shape, name in labels}
            self._listed = list(map(str, listed))
        # Whether the present lines are another host's than the first one's, so that no reader need look at them.
        self.is_other = bool(self._others - {HostSource.LINE})

    def to_state(self) -> list[object] | None:
        """Return the state for a new object. Missing: None while no line named a host."""
        if not self._first and not self._labels and not self._listed:
            return None
        return [
            [list(pair) for pair in sorted(self._first.items())],
            sorted(self._others),
            [list(pair) for pair in self._labels.items()],
            self._listed,
        ]

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
        if not (line.startswith(STARTS) or line.endswith(ENDS) or b"@" in line or b"sh " in line or b"for " in line):
            return None
        if len(line) > MAX_LENGTH:
            return None
        for call in CALLS:
            found = call.match(line)
            if found is not None:
                self.see(HostSource.HEADING, found["host"].decode())
                return HostHeading.CALL
        tail = TAIL.fullmatch(line.strip())
        if tail is not None:
            self.see(HostSource.HEADING, self._host_of_path(tail["path"].decode("utf-8", "replace").removeprefix("./")))
            return None if self._reads_files else HostHeading.PART
        for banner in BANNERS:
            found = banner.match(line)
            if found is not None:
                self.see(HostSource.BANNER, found["host"].decode())
                return None
        self._take_prompt(line)
        return None

    def _take_prompt(self, line: bytes) -> None:
        """Note the host on which a command was called after a prompt, and the hosts of a loop."""
        loop = LOOP.search(line)
        if loop is not None:
            self._listed = loop["words"].decode().split()[:MAX_LABELS]
        prompt, bare = PROMPT.match(line), BARE_PROMPT.fullmatch(line)
        remote = SSH.match(bare["command"]) if bare is not None else None
        named = remote if remote is not None else prompt
        if named is not None:
            self.see(HostSource.PROMPT, named["host"].decode())

    def may_be_heading(self, line: bytes) -> bool:
        """Return whether a line may be the heading of a host, which the next lines show."""
        if len(line) > MAX_LABEL:
            return False
        return self._label_of(line) != "" or RULE.fullmatch(line.strip()) is not None

    def is_heading(self, line: bytes, below: bytes) -> bool:
        """Return whether a line is a name above another one that begins as the one below an earlier name."""
        if len(line) > MAX_LABEL or not self._label_of(line):
            return False
        return self._is_minion(line, below) or _shape_of(below) in self._labels

    def take_heading(self, line: bytes, ahead: Ahead) -> int | More:
        """Note the host of a heading that is a name alone on its line; `line` may be one. Return how many lines the heading has:
        0 for none.
        """
        label = self._label_of(line)
        if not label:
            return self._take_between_rules(line.strip(), ahead)
        n_lines = 1
        while True:
            below = ahead.line(n_lines)
            if below is None:
                return MORE
            bare = below.strip()
            if bare and RULE.fullmatch(bare) is None:
                break
            if n_lines == MAX_BETWEEN:
                return 0
            n_lines += 1
        if self._is_minion(line, below):
            self.see(HostSource.HEADING, label)
            return n_lines
        shape = _shape_of(below)
        if not shape:
            return 0
        first = self._labels.get(shape)
        if first is None:
            if len(self._labels) < MAX_LABELS:
                self._labels[shape] = label
            return 0
        self.see(HostSource.HEADING, first)
        self.see(HostSource.HEADING, label)
        return n_lines

    def _is_minion(self, line: bytes, below: bytes) -> bool:
        return not self._reads_files and below.startswith(INDENT) and MINION.fullmatch(line) is not None

    def _label_of(self, line: bytes) -> str:
        """Return the name that a line is, if it can be a host's; "" for others."""
        found = LABEL.fullmatch(line)
        if found is None:
            return ""
        name = found["host"].decode()
        return name if name in self._listed or NAME.fullmatch(found["host"]) is not None else ""

    def _take_between_rules(self, rule: bytes, ahead: Ahead) -> int | More:
        """Note the name between two rules, as dshbak prints it above the output of a host. Return how many lines they are."""
        name, end = ahead.line(1), ahead.line(2)
        if name is None or end is None:
            return MORE
        name, end = name.strip(), end.strip()
        pattern = WORD if rule.startswith(b"-") else NAME
        if RULE.fullmatch(end) is None or end[:1] != rule[:1] or pattern.fullmatch(name) is None:
            return 0
        self.see(HostSource.HEADING, name.decode())
        return 3

    def _host_of_path(self, path: str) -> str:
        """Return the part that identifies the host of a file. Missing: ""."""
        system = SYSTEM.search(path)
        if system is not None:
            return path[: system.start()]
        return path.rpartition("/")[0] if self._reads_files else path


def _shape_of(line: bytes) -> str:
    """Return how a line below a name begins, if calls of a tool can begin with it; "" for others: a value below its name.

    >>> [_shape_of(line) for line in (b" r  b   swpd", b"10:00:01 up 3 days", b"Sat Nov 28 10:00:01 UTC 2026", b"    value 3")]
    ['r', '0', 'time', '']
    """
    words = line.split()
    if parse_time_line(line.decode("utf-8", "backslashreplace")) is not None:
        return "time"
    numbers = [at for at, word in enumerate(words) if NUMBER.fullmatch(word) is not None]
    # A value below its name; `vmstat -s` begins with numbers, and names them.
    is_value = line[:2].isspace() and bool(numbers) and (numbers[0] > 0 or len(words) < MIN_SENTENCE)
    if not words or is_value:
        return ""
    if len(words) == 1 and SEPARATORS.search(line) is None:
        # Names below each other are a list.
        return words[0].decode("utf-8", "backslashreplace") if NAME.fullmatch(words[0]) is None and not numbers else ""
    return DIGITS.sub(b"0", WORD_END.split(words[0], maxsplit=1)[0])[:40].decode("utf-8", "backslashreplace")
