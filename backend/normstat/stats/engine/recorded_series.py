"""Readers of files that other collectors of metrics recorded: of one host, whose lines say their times themselves."""

import json
from typing import Final

from normstat.stats.engine.hosts import is_same_host
from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.single_series import SeriesLayoutT, SeriesReader
from normstat.stats.records import State

NO_JSON: Final = Rejected("broken JSON")


class RecordedSeriesReader(SeriesReader[SeriesLayoutT]):
    """The part of such a reader that is not about the collector. A row appears when two later ones have begun, or at the end."""

    may_be_quoted = False
    waits_for_newer = True

    def load_recorded(self, own: State) -> None:
        """Restore the host and the series of the previous piece."""
        host = own.get("host")
        self._host = host if isinstance(host, str) else ""
        self.load_series(own)

    def save_recorded(self) -> State:
        """Return what `load_recorded` restores."""
        return {"host": self._host, **self.save_series()}

    def load_after_gap(self, own: State) -> None:
        """Keep everything: values stand for themselves, and the times of counters tell how long ago the last one was."""
        self.load(own)

    def begin_call(self) -> None:
        """Do nothing: the lines say their times themselves."""

    def names_another_host(self, host: str) -> bool:
        """Return whether the host is not the first one of the file; the first one that is asked for is."""
        self._host = self._host or host
        return not is_same_host(host, self._host)


def read_json(text: str) -> object:
    """Return what a text of JSON holds, its numbers as they are printed, or NO_JSON."""
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return NO_JSON
