"""Agents that send a tool's output over the wire protocol, keep what is not acknowledged, and never give up."""

import gzip
import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Final

import httpx
import psycopg
from psycopg import sql

from normstat.auth.secret_tokens import AGENT_TOKEN_PREFIX, API_TOKEN_PREFIX, new_secret
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.samples.chunks import unpack_body
from normstat.samples.stat_tables import table_of
from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from tests.e2e.product import Server
from tests.generated import vmstat_text, vmstat_times

SPEC: Final = "vmstat_linux"
COMMAND: Final = "vmstat -n -t 1"
REQUEST_TIMEOUT_S: Final = 60.0
# Real agents wait as long as they are told to; a test has less time.
PAUSE_S: Final = 0.1


def make_agent_token(database_url: str, name: str = "test") -> str:
    """A token that may name any host."""
    secret = new_secret(AGENT_TOKEN_PREFIX)
    with psycopg.connect(database_url) as connection:
        query = "INSERT INTO agent_tokens (name, token_hash, created_by) VALUES (%s, %s, 'test')"
        connection.execute(query, [name, secret.token_hash])
    return secret.token


def log_in(server: Server, database_url: str) -> httpx.Client:
    """An operator with an API token."""
    secret = new_secret(API_TOKEN_PREFIX)
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO users (name, role) VALUES ('operator', 'operator')")
        query = "INSERT INTO api_tokens (name, role, created_by, token_hash) VALUES ('test', 'operator', 'operator', %s)"
        connection.execute(query, [secret.token_hash])
    return httpx.Client(base_url=f"{server.url}/api/v1", headers={"Authorization": f"Bearer {secret.token}"}, timeout=60)


@dataclass(slots=True)
class Agent:
    """One host with one stream; `run` returns when the server has acknowledged all of `data`."""

    port: int
    token: str
    host: str
    data: bytes
    piece_bytes: int
    acked: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{SPEC}.{self.host}.1-1"

    def run(self, stop: threading.Event) -> None:
        while self.acked < len(self.data) and not stop.is_set():
            try:
                status, text = self._post(self.data[self.acked : self.acked + self.piece_bytes])
            except (OSError, HTTPException) as error:
                status, text = 0, repr(error)
            self.answers[status] += 1
            if status == 200:
                found = re.fullmatch(rf"{re.escape(self.key)} (\d+)\n", text)
                assert found is not None, text
                assert int(found[1]) >= self.acked, "an acknowledged byte was forgotten"
                self.acked = int(found[1])
                continue
            if status not in {0, 503}:
                self.troubles.append(f"{self.host}: {status} {text[:300]}")
                return
            stop.wait(PAUSE_S)

    def assert_stored_once(self, database_url: str) -> None:
        """As Fleet.assert_stored_once, for this one."""
        with psycopg.connect(database_url) as connection:
            _assert_stored_once(connection, self)

    def _post(self, piece: bytes) -> tuple[int, str]:
        frame = Frame(FrameKind.STREAM, SPEC, self.key, self.acked, len(piece), COMMAND, piece)
        connection = HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_TIMEOUT_S)
        try:
            connection.request(
                "POST",
                "/api/v1/ingest",
                gzip.compress(format_frames([frame]), 1),
                {"Authorization": f"Bearer {self.token}", "Content-Encoding": "gzip", "Normstat-Host": self.host},
            )
            answer = connection.getresponse()
            text = answer.read().decode()
            if answer.status == 503:
                assert int(answer.headers["Retry-After"]) >= 1
                assert json.loads(text)["error"]["code"] in {"database_away", "overloaded"}, text
            return answer.status, text
        finally:
            connection.close()


class Fleet:
    """Several agents, each in a thread."""

    def __init__(self, port: int, token: str, *, n_agents: int, n_rows: int, n_pieces: int) -> None:
        times = vmstat_times(n_rows)
        self.agents = []
        for number in range(n_agents):
            data = vmstat_text(times, seed=number)
            self.agents.append(Agent(port, token, f"host{number}", data, len(data) // n_pieces + 1))
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=agent.run, args=[self._stop], daemon=True) for agent in self.agents]

    def __enter__(self) -> "Fleet":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(REQUEST_TIMEOUT_S + 5)

    @property
    def n_acked(self) -> int:
        return sum(agent.acked for agent in self.agents)

    @property
    def n_bytes(self) -> int:
        return sum(len(agent.data) for agent in self.agents)

    @property
    def answers(self) -> Counter[int]:
        return sum((agent.answers for agent in self.agents), Counter())

    def wait_until(self, part: float, timeout_s: float = 100.0) -> None:
        """Returns when that part of all bytes is acknowledged."""
        deadline = time.monotonic() + timeout_s
        while self.n_acked < part * self.n_bytes:
            troubles = [trouble for agent in self.agents for trouble in agent.troubles]
            assert not troubles, troubles
            assert time.monotonic() < deadline, f"{self.n_acked} of {self.n_bytes} bytes; answers {self.answers}"
            time.sleep(0.02)

    def assert_stored_once(self, database_url: str) -> None:
        """Raw bytes, samples and offsets in the database are those that were sent."""
        with psycopg.connect(database_url) as connection:
            for agent in self.agents:
                _assert_stored_once(connection, agent)


def _assert_stored_once(connection: psycopg.Connection, agent: Agent) -> None:
    query = "SELECT streams.id, acked_offset, n_sample, n_rejected, n_gap_bytes FROM streams WHERE key = %s"
    [(stream_id, acked, n_samples, n_rejected, n_lost)] = connection.execute(query, [agent.key]).fetchall()
    assert acked == agent.acked
    chunks = connection.execute(
        "SELECT start_offset, end_offset, body FROM chunks WHERE stream_id = %s ORDER BY start_offset", [stream_id]
    ).fetchall()
    position = 0
    for start, end, body in chunks:
        assert start == position, "chunks follow each other without a hole and without an overlap"
        assert unpack_body(body) == agent.data[start:end]
        position = end
    assert position == acked
    assert (n_rejected, n_lost) == (0, 0)
    [block] = read(require_spec(SPEC), agent.data[:acked], state={}, offset=0, command=COMMAND).blocks
    expected = sorted(
        zip(block.line_offset.tolist(), block.time_us.tolist(), *(column.tolist() for column in block.values), strict=True)
    )
    assert n_samples == len(expected)
    columns = sql.SQL(", ").join(sql.Identifier(item.key) for item in block.fields)
    found = connection.execute(
        sql.SQL(
            "SELECT line_offset, (extract(epoch FROM time) * 1000000)::int8, {} FROM {} WHERE stream_id = %s ORDER BY line_offset"
        ).format(columns, table_of(SPEC)),
        [stream_id],
    ).fetchall()
    assert found == expected
