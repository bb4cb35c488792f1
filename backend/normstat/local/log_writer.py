"""Writes what other processes print to rotated log files: log_writer.py MAX_BYTES N_FILES FD=PATH ...

A separate program that uses only the standard library: it keeps running while `normstat up` is busy, stopped by Ctrl-Z or killed,
so that no process blocks on its output, and it ends when all writers have ended. A log called server.log consists of
server.log, server.log.1 (the one before) and so on, N_FILES in all, each up to MAX_BYTES long and of whole lines.
"""

import contextlib
import os
import select
import signal
import sys

READ_BYTES = 1 << 16
# Readable by us only: logs name hosts, people and what they did.
FILE_MODE = 0o600


class RotatingFile:
    """One log. Bytes that cannot be written, as on a full disk, are counted, and the number is noted where they are missing."""

    def __init__(self, path: str, max_bytes: int, n_files: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._n_files = n_files
        self._file = -1
        self._size = 0
        self._n_lost = 0
        self._is_in_line = False

    def write(self, data: bytes) -> None:
        """Append the data; begin a new file at the end of a line when this one would get too long."""
        while data:
            try:
                self._open()
                end = self._end_of_piece(data)
                if end == 0:
                    self._rotate()
                    continue
                if self._n_lost:
                    note = f"log_writer: {self._n_lost} bytes are missing here; they could not be written\n".encode()
                    self._size += os.write(self._file, note if not self._is_in_line else b"\n" + note)
                    self._n_lost = 0
                n_written = os.write(self._file, data[:end])
            except OSError:
                self._n_lost += len(data)
                return
            self._size += n_written
            if n_written:
                self._is_in_line = data[n_written - 1] != 0x0A
            data = data[n_written:]

    def _end_of_piece(self, data: bytes) -> int:
        """Return how much of the data goes into this file; 0 when a new one must begin first."""
        room = self._max_bytes - self._size
        if len(data) <= room:
            return len(data)
        end = data.rfind(b"\n", 0, max(room, 0)) + 1
        if end == 0 and (self._is_in_line or self._size == 0):
            # A line longer than a file is not split, unless it does not end at all.
            end = data.find(b"\n") + 1 or (len(data) if self._size < 2 * self._max_bytes else 0)
        return end

    def _open(self) -> None:
        if self._file < 0:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
            self._size = os.fstat(self._file).st_size

    def _rotate(self) -> None:
        os.close(self._file)
        self._file, self._size, self._is_in_line = -1, 0, False
        for number in range(self._n_files - 1, 0, -1):
            older = self._path if number == 1 else f"{self._path}.{number - 1}"
            with contextlib.suppress(FileNotFoundError):
                os.replace(older, f"{self._path}.{number}")  # noqa: PTH105 - pathlib takes 1 MB
        if self._n_files == 1:
            os.unlink(self._path)  # noqa: PTH108


def main(arguments: list[str]) -> None:
    """Copy from the open files to the logs until all of them have ended."""
    for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop_signal, signal.SIG_IGN)
    os.umask(0o077)
    max_bytes, n_files = int(arguments[0]), int(arguments[1])
    logs: dict[int, RotatingFile] = {}
    waiting = select.poll()
    for argument in arguments[2:]:
        number, _, path = argument.partition("=")
        logs[int(number)] = RotatingFile(path, max_bytes, n_files)
        waiting.register(int(number), select.POLLIN)
    while logs:
        for reader, _ in waiting.poll():
            data = os.read(reader, READ_BYTES)
            if data:
                logs[reader].write(data)
            else:
                waiting.unregister(reader)
                del logs[reader]


if __name__ == "__main__":
    main(sys.argv[1:])
