"""Guess which tool printed these bytes: the spec that reads most of them.

Specs are candidates when a line is one of their headers or marks. Each candidate reads the
beginning of the bytes, and the one that accounts for most of it with the least refused wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.engine.folding import folded_headers, without_prefix
from normstat.stats.engine.header import HeaderLine, find_header, split_header
from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.line_engine import clean_line
from normstat.stats.engine.line_prefix import strip_prefix
from normstat.stats.file_names import is_document, words_in_name
from normstat.stats.part_files import is_of_part, is_part_file, without_parts
from normstat.stats.pattern import join_patterns
from normstat.stats.readers import READERS, read
from normstat.stats.records import LineKind, ReadResult
from normstat.stats.spec import Spec
from normstat.stats.translated_lines import read_translations

# Every tool prints its first header within this many lines.
GUESS_LINES: Final = 400
GUESS_BYTES: Final = 1 << 16
MAX_LINE_LENGTH: Final = 4096
# A name on the file decides between specs whose shares are as near as this.
NEAR: Final = 0.1
# A spec that refuses more than it reads did not print the file.
MIN_SHARE: Final = 0.2
# A fallback without a mark must find samples in this share of the file, and know this share of their columns: any text has numbers.
MIN_SAMPLED: Final = 0.5
# A text of headers alone is a tool's when it is that long and nearly all of it is understood: archives begin with descriptions.
MIN_HEADER_BYTES: Final = 4000
MIN_HEADER_SHARE: Final = 0.95
UNDERSTOOD: Final = (LineKind.HEADER, LineKind.SAMPLE, LineKind.SINCE_BOOT, LineKind.TIMESTAMP, LineKind.STATE_CHANGE)
COLUMNS: Final = "columns"


@dataclass(frozen=True, slots=True)
class Trial:
    """How well a spec read the beginning of a file.

    `share` is the part of the bytes that it understood less the part that it refused, `documented` the part of its columns that the
    spec knows, `n_values` how many numbers and events it found, `sampled` the part of the bytes that is lines of samples,
    `is_long_header` whether it is a long header and nothing else.
    """

    spec: Spec
    share: float
    documented: float
    n_values: int
    is_named: bool
    sampled: float
    is_long_header: bool


def guess_spec(data: bytes, name: str = "") -> Spec | None:
    """Return the spec of a file by its first bytes and, where those are ambiguous, by the words of its name.

    Missing: None when no spec reads it, for a document about tools, and for counters of a cgroup or a NUMA node, which would become
    the host's.
    """
    if is_document(name):
        return None
    n_bytes = GUESS_BYTES if b"\n" in data[:GUESS_BYTES] else data.find(b"\n") + 1 or GUESS_BYTES
    head = without_parts(_whole_lines(data[:n_bytes], is_all=len(data) <= n_bytes))
    lines = [clean_line(line[:MAX_LINE_LENGTH]) for line in head.split(b"\n")[:GUESS_LINES]]
    printed = [line.decode("utf-8", "replace") for line in (*lines, *strip_prefix(lines))]
    texts = [without_prefix(text) for text in printed]
    if is_part_file(name) or is_of_part(texts, name):
        return None
    headers = [line for line in map(split_header, [*texts, *folded_headers(printed)]) if line is not None]
    words = words_in_name(name)
    specs = list(load_catalogue().specs.values())
    candidates = [spec for spec in specs if _could_be(spec, *_english(spec, texts, headers))]
    best = _best([_try(spec, head, words) for spec in candidates])
    if best is None or best.share < MIN_SHARE:
        named = [spec for spec in specs if spec not in candidates and (spec.is_fallback or spec.tool.lower() in words)]
        trials = [_try(spec, head, words) for spec in named if not _is_refused(spec, texts)]
        other = _best([trial for trial in trials if trial.is_named or min(trial.sampled, trial.documented) >= MIN_SAMPLED])
        best = other if best is None or (other is not None and other.share > best.share) else best
    return best.spec if best is not None else None


def _whole_lines(head: bytes, *, is_all: bool) -> bytes:
    end = head.rfind(b"\n") + 1
    return head if is_all or not end else head[:end]


def _english(spec: Spec, texts: Sequence[str], headers: Sequence[HeaderLine]) -> tuple[Sequence[str], Sequence[HeaderLine]]:
    """Return the lines, and those that may be headers, as the spec's tool prints them in English."""
    if not spec.translations:
        return texts, headers
    translations = read_translations(spec.translations)
    english = [translations.english(text) for text in texts]
    changed = [
        line for text, own in zip(texts, english, strict=True) if own is not text and (line := split_header(own)) is not None
    ]
    return english, [*headers, *changed]


def _is_refused(spec: Spec, texts: Sequence[str]) -> bool:
    pattern = join_patterns(spec, spec.refuses)
    return pattern is not None and any(pattern.fullmatch(text) for text in texts)


def _could_be(spec: Spec, texts: Sequence[str], headers: Sequence[HeaderLine]) -> bool:
    if _is_refused(spec, texts):
        return False
    pattern = join_patterns(spec, spec.marks)
    if pattern is not None and any(pattern.fullmatch(text) for text in texts):
        return True
    layout = spec.layout
    if spec.reader != COLUMNS or spec.is_fallback or not isinstance(layout, ColumnLayout):
        return False
    found = (find_header(spec, layout, line) for line in headers)
    # A header that no table knows may be any tool's.
    return any(header is not None and header.stat is not None and not header.table.is_open for header in found)


def _try(spec: Spec, head: bytes, words: set[str]) -> Trial:
    result = read(spec, head, state={}, offset=0, is_final=True)
    n_bytes = result.accounts.n_bytes
    understood = sum(n_bytes.get(kind, 0) for kind in UNDERSTOOD)
    # Blank lines, others without data, and those of another host count for no spec.
    n_others = sum(line.n_bytes for line in result.rejected if line.reason == ANOTHER_HOST.reason)
    total = max(1, sum(n_bytes.values()) - n_bytes.get(LineKind.IGNORED, 0) - n_others)
    share = (understood - n_bytes.get(LineKind.REJECTED, 0) + n_others) / total
    documented, n_values = _count(result)
    sampled = sum(n_bytes.get(kind, 0) for kind in (LineKind.SAMPLE, LineKind.SINCE_BOOT)) / total
    is_header = is_long_header(result) and not _takes_any_text(spec)
    return Trial(spec, share, documented, n_values, spec.tool.lower() in words, sampled, is_header)


def _takes_any_text(spec: Spec) -> bool:
    """Return whether the reader takes any text for the name of what follows: a text without a number is then not output of its
    tool.
    """
    return bool(getattr(READERS[spec.reader].reader, "takes_any_text", False))


def is_long_header(result: ReadResult) -> bool:
    """Return whether the bytes are a header alone, long enough not to be a coincidence."""
    n_bytes = result.accounts.n_bytes
    n_header = n_bytes.get(LineKind.HEADER, 0)
    return n_header >= max(MIN_HEADER_BYTES, MIN_HEADER_SHARE * sum(n_bytes.values()))


def _count(result: ReadResult) -> tuple[float, int]:
    """Return the share of documented columns, weighted by rows, and the number of values."""
    known = total = 0
    for block in (*result.blocks, *result.since_boot):
        known += len(block) * sum(field.is_documented for field in block.fields)
        total += len(block) * len(block.fields)
    # A text with events and no samples is recognised by its lines.
    return (known / total if total else 0.0), total + len(result.events)


def _best(trials: Sequence[Trial]) -> Trial | None:
    found = [trial for trial in trials if trial.n_values or trial.is_long_header]
    if not found:
        return None
    top = max(trial.share for trial in found)
    near = [trial for trial in found if trial.share >= top - NEAR]
    return max(near, key=lambda trial: (trial.is_named, round(trial.share, 2), trial.documented, trial.n_values))
