"""The server is killed in mid-load while the real agent ships: the samples equal the file, none missing, none double."""

import csv
import io
from pathlib import Path

import pytest

from tests.e2e.product import Server, running_agent, wait_until
from tests.generated import VMSTAT_HEADER

N_ROWS = 60_000


def write_capture(path: Path) -> list[list[str]]:
    """A vmstat -t output whose rows all differ, its header repeated as the tool does; the rows as printed tokens."""
    rows = []
    with path.open("w") as out:
        out.write(VMSTAT_HEADER + " 1  0      0 1 2 3    0    0     1     3   29   57  0  0 99  0  0 2026-01-01 00:00:00\n")
        for i in range(N_ROWS):
            if i % 40 == 39:
                out.write(VMSTAT_HEADER)
            day, second = 1 + (i + 1) // 86400, (i + 1) % 86400
            memory = [0, 10_000_000 + i, i * 31, 7 * i]
            numbers = [i % 7, i % 3, *memory, 0, 0, i % 1000, i * i % 100_000, i, 2 * i, i % 100, 0, 99, 0, 0]
            row = [str(n) for n in numbers]
            rows.append(row)
            clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
            out.write(" ".join(f"{n:>4}" for n in row) + f" 2026-01-{day:02} {clock}\n")
    return rows


@pytest.mark.matrix
@pytest.mark.timeout(120)  # a server with all modules of its own, commands beside it, and a busy machine
def test_samples_equal_the_file_after_kills(database_url: str, tmp_path: Path) -> None:
    capture = tmp_path / "vmstat.txt"
    expected = write_capture(capture)
    tool = tmp_path / "vmstat"
    tool.write_text(f"#!/bin/sh\ncat '{capture}'\nexec sleep 600\n")
    tool.chmod(0o755)
    size = capture.stat().st_size

    with Server(database_url, tmp_path / "server.log", is_forked=False) as server:
        token = server.normstat("agent-token", "create", "test", "--host", "web1")
        with (
            server.log_in() as client,
            running_agent(server.url, token, tmp_path / "agent", f"vmstat_linux\t{tool}\n", host="web1") as spool,
        ):

            def acknowledged() -> int:
                answer = client.get("/hosts/web1")
                return sum(s["acked_offset"] for s in answer.json()["streams"]) if answer.status_code == 200 else 0

            for part in (0, 1, 2):
                wait_until(lambda part=part: acknowledged() > part * size // 4, f"part {part} acknowledged", 90)  # type: ignore[misc]
                server.kill()
                server.start()
            wait_until(lambda: acknowledged() == size, "all of the file acknowledged", 90)
            spooled = b"".join(path.read_bytes() for path in sorted(spool.glob("*.raw")))
            window = {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01T00:00:00Z"}
            answer = client.get("/export.csv", params={"host": "web1", "stat": "vmstat_linux", **window})

    assert spooled == capture.read_bytes()
    lines = list(csv.reader(io.StringIO(answer.text)))
    keys = [name.split("[")[0] for name in lines[0]]
    first = next(i for i, key in enumerate(keys) if key.endswith("_r"))
    exported = [[cell for cell in line[first:] if cell != ""] for line in lines[1:]]
    assert len(exported) == N_ROWS
    assert exported == expected
