"""What an agent does, for tests of ingest: sends bytes of streams and hears where they stand."""

import contextlib
import dataclasses
from collections.abc import AsyncIterator

from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import make_engine
from normstat.ingest.batching import AgentIdentity, Recording, ingest_request
from normstat.ingest.protocol import Frame, FrameKind

ANY_HOST = AgentIdentity(host_id=None, token_id=1)


@dataclasses.dataclass
class Agent:
    """An agent of one host."""

    engine: AsyncEngine
    host: str = "alpha"
    identity: AgentIdentity = ANY_HOST

    async def send(self, *frames: Frame, recording: Recording | None = None) -> dict[str, int]:
        """The acknowledged offsets by key; with a recording as an import sends them."""
        acks = await ingest_request(
            self.engine,
            agent=self.identity,
            host_name=self.host,
            os="Linux 6.1.0 x86_64",
            agent_version="1.0",
            host_time=None,
            frames=frames,
            recording=recording,
        )
        assert len({ack.key for ack in acks}) == len(acks)
        return {ack.key: ack.offset for ack in acks}

    async def send_file(self, text: bytes, spec: str = "vmstat_linux", key: str = "k", *, offset: int = 0) -> int:
        """The acknowledged offset after the text was sent from there."""
        return (await self.send(stream(text, spec, key, offset=offset)))[key]


def stream(data: bytes, spec: str = "vmstat_linux", key: str = "k", *, offset: int = 0, command: str = "vmstat -n -t 1") -> Frame:
    return Frame(FrameKind.STREAM, spec, key, offset, len(data), command, data)


def gap(offset: int, length: int, spec: str = "vmstat_linux", key: str = "k") -> Frame:
    return Frame(FrameKind.GAP, spec, key, offset, length, "spool limit reached")


@contextlib.asynccontextmanager
async def opened_engine(url: str, pool_size: int = 2) -> AsyncIterator[AsyncEngine]:
    """An engine as another process has it."""
    engine = make_engine(url, pool_size=pool_size)
    try:
        yield engine
    finally:
        await engine.dispose()
