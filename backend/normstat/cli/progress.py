"""Progress of a long command: a bar on a terminal, otherwise an occasional line."""

import sys
import time
from types import TracebackType
from typing import Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from normstat.backup.dump import Progress
from normstat.runtime.readable import format_bytes

LINE_EVERY_S: Final = 5.0


class ProgressDisplay:
    """Shows the progress on standard error while the block runs."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown_s = 0.0
        self._bar: Bar | None = None
        if sys.stderr.isatty():
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[said]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(title, total=None, said="")

    def __enter__(self) -> "ProgressDisplay":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Show the current state."""
        said = f"{progress.n_rows:,} rows, {format_bytes(progress.n_bytes)}"
        if self._bar is not None:
            self._bar.update(self._task, total=progress.n_pieces, completed=progress.n_done, said=said)
            return
        is_end = progress.n_done == progress.n_pieces
        if is_end or time.monotonic() - self._shown_s >= LINE_EVERY_S:
            self._shown_s = time.monotonic()
            typer.echo(f"{self._title}: {progress.n_done} of {progress.n_pieces} pieces, {said}", err=True)
