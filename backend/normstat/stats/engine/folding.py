"""Put together the lines of tables that a terminal or mail folded.

A header whose columns the next line completes teaches how lines are folded. `fold -w` and terminals break lines at a width, in the
midst of words; mail breaks them between words:

    Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB
    /s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
    vda              1.98     11.88     0.00   0.00    0.00     6.00    2.97    506.
    93     0.00   0.00    2.33   170.67    0.01   0.40

Each row is then the lines that hold one value for each column, and not one more. What cannot be put together in one way only is
left as it is, and rejected by the reader. Only the width is kept between lines: one that may be folded waits for the next.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.ahead import MORE, Ahead, Joined, More
from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.engine.header import Header
from normstat.stats.engine.heading import Heading
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.reader_state import ReaderState
from normstat.stats.engine.row import NUMBER, Words, read_row, split_row
from normstat.stats.engine.times.banner_day import parse_banner_day
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import PREFIX, split_words, take_clock

# Mail does not fold lines that are as short as this, nor terminals.
MIN_PART: Final = 56
# Terminals are at least so wide.
MIN_WIDTH: Final = 79
# Widths that terminals have.
WIDTHS: Final = frozenset({80, 96, 100, 120, 128, 132, 160, 200})
MAX_PARTS: Final = 16
MIN_NAMES: Final = 3
# The parts of a header that are tried to find out which tool printed a file.
MAX_GUESSED: Final = 4
# Mail folds between words: the second part of a header may be longer than the first.
MAX_LONGER: Final = 24
# A longer line is not from a folded table.
MAX_LENGTH: Final = 4096
NUMBER_IN: Final = re.compile(r"(?:^|[ \t])[-+]?[\d.,]+[%\w]?(?=[ \t]|$)", re.ASCII)
LEAD_EPOCH: Final = re.compile(r"^\s*\d{9,10}(?=\s)", re.ASCII)
FIRST_WORD: Final = re.compile(r"^[^ \t]+")
LAST_WORD: Final = re.compile(r"[^ \t]+$")
# A word in the rest of a line of groups: procs -----------memory---------- ---swap--. The first one may have lost its beginning.
# One pattern for all of them would try each dash of each word as its end.
GROUP_END: Final = re.compile(r"[\w-]*-", re.ASCII)
GROUP: Final = re.compile(r"-[\w-]*-", re.ASCII)
BANNER: Final = "Linux "
# How a terminal shows Ctrl-C.
INTERRUPT: Final = "^C"
BROKEN: Final = "a header that was folded; its columns are not all known, so the rows below cannot be read"

BROKEN_ROW: Final = "a row that was folded; together with the next line it is none"


@dataclass(frozen=True, slots=True)
class _Fit:
    """A row or header that parts give: its text; how many of a row's values are not as the tool prints them."""

    text: str
    n_odd: int = 0
    is_hard: bool = False


FitParts = Callable[[Header, Sequence[str]], _Fit | None]


class Folding:
    """Finds the lines that belong together, under the present header of a reader."""

    def __init__(
        self,
        layout: ColumnLayout,
        heading: Heading,
        state: ReaderState,
        decode: Callable[[bytes], str],
        *,
        is_translated: bool,
    ) -> None:
        self._layout = layout
        self._heading = heading
        self._state = state
        self._decode = decode
        self._is_translated = is_translated

    def join(self, line: bytes, ahead: Ahead) -> Joined | More | None:
        """Return the line with those that belong to it. Missing: None for a line that was not folded."""
        width = self._state.fold_width
        if (len(line) < MIN_PART and not width) or len(line) > MAX_LENGTH or not line.strip(b" \t"):
            return None
        text = self._decode(line)
        if (not width and self._heading.repeats(line)) or self._is_message(text):
            return None
        if len(text) >= MIN_PART:
            if text.lstrip().startswith(BANNER) and self._layout.banner is not None:
                return self._join_banner(text, ahead)
            if not _has_number(_without_ends(text)):
                return self._join_names(text, ahead)
        return self._join_row(text, ahead)

    # Lines above rows.

    def _join_banner(self, text: str, ahead: Ahead) -> Joined | More | None:
        """Return a banner with its rest: a blank line follows a whole one."""
        line = ahead.line(1)
        if line is None:
            return MORE
        rest = self._decode(line)
        if not rest.strip() or self._header_of(rest) is not None or self._is_known(rest):
            return None
        for joined in (text + rest, f"{text.rstrip()} {rest.lstrip()}"):
            assert self._layout.banner is not None
            found = self._layout.banner.search(joined)
            if found is not None and parse_banner_day(found.groupdict().get("date") or "") is not None:
                return _joined(joined, 2)
        return None

    def _join_names(self, text: str, ahead: Ahead) -> Joined | More | None:
        """Return a header, or the groups above one, with its rest."""
        own = self._header_of(text)
        is_group = self._layout.group_line is not None and self._layout.group_line.search(without_prefix(text)) is not None
        is_average = bool(self._state.fold_width) and self._is_known(text)
        is_part = own is not None or self._n_names(text) >= MIN_NAMES or (self._is_translated and len(text) >= MIN_WIDTH)
        if not (is_group or is_part or is_average):
            return None
        parts = self._parts_of_names(text, ahead, is_group=is_group)
        if parts is None:
            return MORE
        if len(parts) == 1:
            self._see_whole(text, own)
            return None
        if is_group:
            return _joined(_hard(parts, max(map(_length, parts[:-1]))), len(parts))
        return self._join_average(text, parts) if is_average else self._join_header(own, parts)

    def _parts_of_names(self, text: str, ahead: Ahead, *, is_group: bool) -> list[str] | None:
        """Return the line and the next ones that hold names alone. Missing: None when the next line did not come yet."""
        parts = [text]
        while len(parts) < MAX_PARTS:
            line = ahead.line(len(parts))
            if line is None:
                return None
            rest = self._decode(line)
            # Another program that prefixes lines prefixes each of them.
            is_names = (
                rest.strip()
                and without_prefix(rest) == rest
                and _length(rest) <= _length(text) + MAX_LONGER
                and not self._is_known(rest)
            )
            if not is_names or _has_number(_without_ends(rest)) or (is_group and not _is_group_rest(rest)):
                break
            parts.append(rest)
        return parts

    def _join_header(self, own: Header | None, parts: Sequence[str]) -> Joined | None:
        """Return the header in the lines, or why it cannot be read; `own` is the header in the first line alone."""
        for n_parts in range(len(parts), 1, -1):
            found = self._fit_header(own, parts[:n_parts])
            if found is not None:
                self._state.fold_width = max(map(_length, parts[: n_parts - 1]))
                self._state.is_hard_fold = found.is_hard
                return _joined(found.text, n_parts)
        if self._header_of(parts[1]) is None and self._n_names(parts[1]) >= max(2, len(parts[1].split()) / 2):
            self._heading.drop()
            return Joined(_hard(parts[:2], _length(parts[0])).encode("utf-8", "replace"), 2, BROKEN)
        self._see_whole(parts[0], own)
        return None

    def _see_whole(self, text: str, own: Header | None) -> None:
        """Note a header that is wider than the folded ones and was not folded: other output begins."""
        slack = 1 if self._state.is_hard_fold else MAX_LONGER
        if own is not None and _length(text) > self._state.fold_width + slack:
            self._state.fold_width, self._state.is_hard_fold = 0, False

    def _join_average(self, text: str, parts: Sequence[str]) -> Joined | None:
        """Return the header above averages, which are not read, with its rest."""
        header = self._heading.header
        if header is None:
            return None
        known = set(header.words)
        rest = [part for part in parts[1:] if known.issuperset(part.split()[1:])]
        return _joined(" ".join([text, *rest]), 1 + len(rest)) if len(rest) == len(parts) - 1 else None

    def _fit_header(self, own: Header | None, parts: Sequence[str]) -> _Fit | None:
        """Return the header in the joined parts; `own` is the header in the first part alone."""
        if own is not None and any(self._header_of(part) is not None for part in parts[1:]):
            return None
        hard, soft = _hard(parts, max(map(_length, parts[:-1]))), _soft(parts)
        hard_header, soft_header = self._whole_header(hard, parts), self._whole_header(soft, parts)
        if hard_header is None:
            # The places of columns are lost.
            return _Fit(soft) if soft_header is not None and not soft_header.table.has_short_rows else None
        if soft_header is None:
            return _Fit(hard, is_hard=True)
        is_same = soft_header.words == hard_header.words and not hard_header.table.has_short_rows
        return _Fit(hard) if is_same else None

    def _whole_header(self, text: str, parts: Sequence[str]) -> Header | None:
        """Return the header that a text is, if the columns in all parts after the first are known."""
        header = self._header_of(text)
        if header is None or header.table.is_open or header.stat is None:
            return None
        own = set(parts[0].split()[:-1])
        if _length(parts[0]) in WIDTHS and not (parts[0][-1:] + parts[1][:1]).isspace():
            # A new column may be the one that was broken.
            own.add(parts[0].split()[-1] + parts[1].split()[0])
        values = {header.words[at] for at, field in zip(header.value_at, header.fields, strict=True) if not field.is_documented}
        return header if values <= own else None

    # Rows.

    def _join_row(self, text: str, ahead: Ahead) -> Joined | More | None:
        """Return a row with its rest, under a header or in a stream that was folded."""
        header = self._heading.header
        if header is None or self._header_of(text) is not None or header.table.is_open:
            return None
        if header.table.has_short_rows and not self._state.is_hard_fold:
            return None
        if self._is_known(text):
            return self._join_parts(header, text, ahead, self._fit_average) if self._state.fold_width else None
        if not self._fits(header, text):
            return self._join_parts(header, text, ahead, self._fit_row) if self._may_lack_words(header, text) else None
        return self._join_parts(header, text, ahead, self._fit_whole) if self._may_lack_end(header, text) else None

    def _join_parts(self, header: Header, text: str, ahead: Ahead, fit: FitParts) -> Joined | More | None:
        """Return the line with as many of the next ones as `fit` makes one of."""
        width = self._state.fold_width
        is_whole = fit == self._fit_whole
        parts = [text]
        best: _Fit | None = None
        n_best = 0
        while len(parts) < MAX_PARTS:
            line = ahead.line(len(parts))
            if line is None:
                return MORE
            rest = self._decode(line)
            if not self._may_follow(header, parts, rest, is_row=best is not None) or (
                is_whole and not self._is_end(header, parts, rest)
            ):
                break
            parts.append(rest)
            found = fit(header, parts)
            if found is None and best is not None:
                break
            if found is not None:
                best, n_best = found, len(parts)
                if _length(rest) < max(width, MIN_PART) and not (header.has_last_text and header.has_clock and width):
                    break
        if best is not None:
            if fit != self._fit_average:
                self._learn(best, parts[:n_best])
            return _joined(best.text, n_best)
        is_odd = is_whole and bool(width) and len(parts) > 1 and _has_number(parts[1])
        return Joined(_hard(parts[:2], _length(text)).encode("utf-8", "replace"), 2, BROKEN_ROW) if is_odd else None

    def _may_follow(self, header: Header, parts: Sequence[str], rest: str, *, is_row: bool) -> bool:
        """Return whether a line may be the rest of the parts of a row, which are one already when `is_row`."""
        return bool(rest.strip()) and self._may_go_on(header, rest) and self._is_full(parts[-1], rest, is_row=is_row)

    def _may_lack_end(self, header: Header, text: str) -> bool:
        """Return whether a row that has all of its words may go on in the next line."""
        width = self._state.fold_width
        if not width:
            return self.may_be_cut(text)
        return _length(text) >= width or (header.has_last_text and not self._state.is_hard_fold)

    def _is_end(self, header: Header, parts: Sequence[str], rest: str) -> bool:
        """Return whether a line may be more of a row that has all of its words: where lines are broken between words, its first
        word had no room in the line before.
        """
        width = self._state.fold_width
        words = rest.split()
        n_numbers = sum(NUMBER.fullmatch(word) is not None for word in words)
        if n_numbers >= MIN_NAMES or (n_numbers < len(words) and not header.has_last_text and len(words) > 1):
            # It may be the beginning of another row.
            return False
        if not width or self._state.is_hard_fold or _length(parts[-1]) >= width:
            return True
        return header.has_last_text and _length(parts[-1]) + 1 + len(words[0]) > width

    def _is_full(self, part: str, rest: str, *, is_row: bool) -> bool:
        """Return whether there was no room for the next line in this one; `is_row`: the parts until here are a whole row."""
        width = self._state.fold_width
        if is_row and not self._state.is_hard_fold:
            return _length(part) + 1 + len(rest.split(maxsplit=1)[0]) > width
        return _length(part) >= max(MIN_PART, width - MAX_LONGER)

    def may_be_cut(self, text: str) -> bool:
        """Return whether a row that has all of its words ends where a terminal does: its last word may go on in the next line."""
        return _length(text) in WIDTHS

    def _may_lack_words(self, header: Header, text: str) -> bool:
        """Return whether the line may be the first part of a row."""
        if self._state.fold_width:
            return True
        n_words = len(split_words(without_prefix(text)))
        n_whole = len(header.words) + (2 if header.has_trailing_time else 0)
        return _length(text) >= MIN_PART and MIN_NAMES <= n_words <= n_whole and not header.table.is_wrapped

    def _may_go_on(self, header: Header, rest: str) -> bool:
        """Return whether a line may be the rest of a row; it is not certain."""
        if self._is_known(rest) or self._is_above(rest) or without_prefix(rest) != rest or rest.startswith(INTERRUPT):
            return False
        if self._fits(header, rest):
            return False
        if header.has_clock and take_clock(split_words(rest)) is not None:
            return False
        may_be_time = header.has_trailing_time or (self._state.is_hard_fold and rest.isdigit())
        is_stamp = not may_be_time and parse_time_line(rest) is not None
        return not is_stamp and (_has_number(rest) or self._header_of(rest) is None)

    def _fits(self, header: Header, text: str) -> bool:
        return isinstance(split_row(header, without_prefix(text), self._state.header_line), Words)

    def _fit_average(self, header: Header, parts: Sequence[str]) -> _Fit | None:
        """Return a row of averages, which is not read, once it has all of its words."""
        soft = _soft(parts)
        return _Fit(soft) if len(soft.split()) > len(header.words) and _has_number(parts[-1]) else None

    def _fit_whole(self, header: Header, parts: Sequence[str]) -> _Fit | None:
        """Return the row in the joined parts, where the first part alone is a row, too."""
        found = self._fit_row(header, parts, is_whole=True)
        own = self._row(header, parts[0], is_hard=False)
        return None if found is not None and own is not None and found.n_odd > own.n_odd else found

    def _fit_row(self, header: Header, parts: Sequence[str], *, is_whole: bool = False) -> _Fit | None:
        """Return the row in the joined parts; `is_whole`: the first part alone is a row, too."""
        state = self._state
        widths = [_length(part) for part in parts[:-1]]
        widest = max(widths)
        if state.is_hard_fold:
            fits = [self._row(header, _hard(parts, state.fold_width), is_hard=True)] if widest <= state.fold_width else []
        else:
            fits = [self._row(header, _soft(parts), is_hard=False)]
            if widest == min(widths) and widest >= state.fold_width:
                fits.append(self._row(header, _hard(parts, widest), is_hard=True))
        found = sorted((fit for fit in fits if fit is not None), key=lambda fit: fit.n_odd)
        if not found or (not is_whole and not state.fold_width and found[0].n_odd):
            return None
        is_other = len(found) == 2 and found[0].text.split() != found[1].text.split()
        if is_other and found[0].n_odd == found[1].n_odd:
            # A name goes on in the next line, or has another word there.
            found = [fit for fit in found if fit.is_hard == (widest in WIDTHS)]
        return found[0] if found else None

    def _learn(self, found: _Fit, parts: Sequence[str]) -> None:
        """Note the width at which a row was folded."""
        state = self._state
        is_split = found.is_hard and found.text.split() != _soft(parts).split()
        if is_split or not state.fold_width:
            state.fold_width = max(state.fold_width, *map(_length, parts[:-1]))
            state.is_hard_fold = state.is_hard_fold or is_split

    def _row(self, header: Header, text: str, *, is_hard: bool) -> _Fit | None:
        """Return the row in a text. Missing: None when it is not a row."""
        words = split_row(header, without_prefix(text), self._state.header_line)
        if not isinstance(words, Words):
            return None
        if header.stat is None:
            return _Fit(text, is_hard=is_hard)
        fields = self._heading.suffixed_fields(words) or self._heading.fields
        if isinstance(read_row(header, fields, words.words), Rejected):
            return None
        cells = zip(header.value_at, fields, strict=True)
        numbers = [read_number(words.words[at], field) for at, field in cells if field.is_documented]
        return _Fit(text, sum(number is not None and not number[1] for number in numbers), is_hard)

    # Both.

    def _header_of(self, text: str) -> Header | None:
        return self._heading.header_of(without_prefix(text)) if len(text) <= MAX_LENGTH else None

    def _n_names(self, text: str) -> int:
        return sum(self._heading.knows(word) for word in split_words(without_prefix(text)))

    def _is_message(self, text: str) -> bool:
        return self._layout.messages is not None and self._layout.messages.search(text) is not None

    def _is_above(self, text: str) -> bool:
        """Return whether a line is one of those above headers."""
        patterns = (self._layout.group_line, self._layout.banner)
        return any(pattern is not None and pattern.search(text) is not None for pattern in patterns)

    def _is_known(self, text: str) -> bool:
        """Return whether the layout knows that the line is not a row, regardless of its words."""
        text = without_prefix(text)
        return self._is_message(text) or (self._layout.ignored is not None and self._layout.ignored.search(text) is not None)


def folded_headers(texts: Sequence[str]) -> list[str]:
    """Return the headers that the lines of a file may be together, where they are long and have no numbers."""
    found: list[str] = []
    for at, text in enumerate(texts):
        if not MIN_PART <= len(text) <= MAX_LENGTH or _has_number(_without_ends(text)):
            continue
        for end in range(at + 2, min(at + MAX_GUESSED, len(texts)) + 1):
            rest = texts[end - 1]
            if not rest.strip() or _length(rest) > _length(text) + MAX_LONGER or _has_number(_without_ends(rest)):
                break
            found += {without_prefix(_hard(texts[at:end], _length(text))), without_prefix(_soft(texts[at:end]))}
    return found


def _length(text: str) -> int:
    """Return how many columns a line takes on a terminal."""
    return len(text.expandtabs()) if "\t" in text else len(text)


def without_prefix(text: str) -> str:
    """Return a line without the time that another program put before it."""
    prefix = PREFIX.match(text) if text[4:5] == "-" else None
    return text if prefix is None else text[prefix.end() :]


def _without_ends(text: str) -> str:
    """Return a line without the words at its ends that may go on in the lines beside it: 17/s | 18 and /s | 19/s."""
    if text[-1:] not in (" ", "\t"):
        text = LAST_WORD.sub("", text)
    return text if text[:1] in (" ", "\t") else FIRST_WORD.sub("", text)


def _has_number(text: str) -> bool:
    """Return whether a line has a number, apart from an epoch before it."""
    return NUMBER_IN.search(LEAD_EPOCH.sub("", without_prefix(text), count=1)) is not None


def _joined(text: str, n_lines: int) -> Joined:
    return Joined(text.encode("utf-8", "surrogateescape"), n_lines)


def _is_group_rest(text: str) -> bool:
    """Return whether a line may be the rest of a line of groups."""
    first, *others = text.split()
    return GROUP_END.fullmatch(first) is not None and all(GROUP.fullmatch(word) for word in others)


def _hard(parts: Sequence[str], width: int) -> str:
    """Return a line that was broken at a width; blanks may be gone from the ends of its parts."""
    return "".join([*(part + " " * (width - _length(part)) for part in parts[:-1]), parts[-1]])


def _soft(parts: Sequence[str]) -> str:
    """Return a line that was broken between words."""
    return " ".join([parts[0].rstrip(), *(part.strip() for part in parts[1:])])
