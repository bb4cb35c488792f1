"""Account for every line and byte of a stream, each once and by kind."""

from collections import Counter

from normstat.stats.records import REJECTED_TEXT_LIMIT, Accounts, LineKind, RejectedLine


class Ledger:
    """Books lines while a chunk is read. `line_no` is the number of the last line that ended, counted from 1 in the stream."""

    __slots__ = ("_n_bytes", "_n_lines", "line_no", "rejected")

    def __init__(self, line_no: int) -> None:
        self._n_lines: Counter[LineKind] = Counter()
        self._n_bytes: Counter[LineKind] = Counter()
        self.line_no = line_no
        self.rejected: list[RejectedLine] = []

    def book(self, kind: LineKind, n_bytes: int, n_lines: int = 1) -> None:
        """Book whole lines."""
        self._n_lines[kind] += n_lines
        self._n_bytes[kind] += n_bytes
        self.line_no += n_lines

    def pass_lines(self, n_lines: int) -> None:
        """Go on by whole lines, which `settle` books later: many at once."""
        self.line_no += n_lines

    def settle(self, kind: LineKind, n_bytes: int, n_lines: int) -> None:
        """Book whole lines that were passed."""
        self._n_lines[kind] += n_lines
        self._n_bytes[kind] += n_bytes

    def reject(self, line: bytes, offset: int, n_bytes: int, reason: str, n_lines: int = 1) -> None:
        """Book a line, or the lines that one was folded into, that could not be read, and keep the text for people."""
        self.book(LineKind.REJECTED, n_bytes, n_lines)
        text = line[: REJECTED_TEXT_LIMIT * 4].decode("utf-8", "backslashreplace")[:REJECTED_TEXT_LIMIT]
        self.rejected.append(
            RejectedLine(offset=offset, line_no=self.line_no, n_bytes=n_bytes, text=text.replace("\0", "\\x00"), reason=reason)
        )

    def book_rest(self, n_bytes: int) -> None:
        """Book more bytes of a line that was rejected already."""
        self._n_bytes[LineKind.REJECTED] += n_bytes

    def close(self) -> Accounts:
        """Return the books; kinds that never came up have no entry."""
        return Accounts(n_lines=dict(self._n_lines), n_bytes=dict(self._n_bytes))
