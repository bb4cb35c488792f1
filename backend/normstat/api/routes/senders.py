"""Shared by the routes for other monitoring systems: their token, their body, and storing the texts of hosts."""

import asyncio
import base64
import binascii
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

from fastapi import Depends, Query, Request
from fastapi.security import HTTPAuthorizationCredentials

from normstat.api.http.deps import State, agent_token_scheme, require_agent
from normstat.api.http.slots import Slots
from normstat.api.http.state import AppState
from normstat.api.routes.ingest import submit
from normstat.auth.access import AgentPrincipal
from normstat.db.schema.models import Host
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, NormstatError, NotAllowed, NotAuthenticated
from normstat.ingest.batching import AgentIdentity, IngestRequest
from normstat.ingest.protocol import Frame, FrameKind
from normstat.ingest.receivers.host_texts import SPEC, HostTexts, write_texts
from normstat.ingest.receivers.metric_samples import MetricSamples

MAX_PLAIN_BYTES: Final = 16 << 20
# Reading this much takes less time than a hop to another thread and back.
INLINE_BYTES: Final = 64 * 1024
# Text has the labels of a series with each sample, where the protocols have them once: how long it may be, and how many times as
# long as the request.
MAX_TEXT_BYTES: Final = 64 << 20
FREE_TEXT_BYTES: Final = 1 << 20
MAX_GROWTH: Final = 64
MAX_WAIT_S: Final = 60.0
RETRY_AFTER_S: Final = 10
BASIC: Final = "basic "
LABEL_PATTERN: Final = r"^[a-zA-Z_][a-zA-Z0-9_.]*$"
# Texts of large requests are made one after the other: each may take some hundred MiB. Tokens take turns.
_decoding: Final = Slots("readings of large requests", n_at_once=1, max_wait_s=MAX_WAIT_S, max_waiting=None)

HostLabels = Annotated[
    list[Annotated[str, Query(max_length=100, pattern=LABEL_PATTERN)]] | None,
    Query(alias="host_label", max_length=8, description="label that names a series' host; the first one that it has counts"),
]


async def require_sender(
    request: Request, state: State, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(agent_token_scheme)]
) -> AgentPrincipal:
    """Return the agent whose token came with the request: as Bearer, or as the password of basic authentication.

    Raises: NotAuthenticated, Overloaded
    """
    header = request.headers.get("authorization", "")
    if bearer is None and header[: len(BASIC)].lower() == BASIC:
        try:
            token = base64.b64decode(header[len(BASIC) :], validate=True).decode("ascii").partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            raise NotAuthenticated("Invalid basic authentication; expected any name, and an agent token as password") from None
        bearer = HTTPAuthorizationCredentials(scheme="Bearer", credentials=token)
    return await require_agent(request, state, bearer)


Sender = Annotated[AgentPrincipal, Depends(require_sender)]


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of a request: samples stored, samples kept as rejected lines, samples without a host and why."""

    n_samples: int
    n_refused: int
    n_without_host: int
    reason: str


@asynccontextmanager
async def body_of(
    request: Request, state: AppState, agent: AgentPrincipal, size_of: Callable[[bytes], int]
) -> AsyncIterator[bytes]:
    """Provide the body, which counts against what senders may have in this process at once.

    Raises: TooSlow, Overloaded, TooLarge, BadRequest
    """
    with state.ingest_gate.admit(agent.token_id) as ticket:
        async with ticket.body(request, size_of=size_of) as body:
            yield body


async def store_metrics(
    state: AppState,
    agent: AgentPrincipal,
    n_bytes: int,
    read: Callable[[], MetricSamples],
    *,
    sender: str,
    host_labels: Sequence[str],
) -> Delivered:
    """Read a request and store its samples with their hosts; all is committed on return.

    Raises: what `read` raises, and what ingest raises, for the first host of which it fails: others may be stored, and are
    recognised when they are sent again
    """
    bound = await _bound_host(state, agent)
    make = partial(_make_texts, read, state, agent, bound_host=bound, host_labels=host_labels)
    texts = make() if n_bytes <= INLINE_BYTES else await _decoding.run(f"agent token {agent.token_id}", make)
    key = f"{sender}.{agent.token_id}"
    jobs = [_job_of(agent, host, key, text) for host, text in texts.texts.items()]
    outcomes = await asyncio.gather(*(submit(state, job) for job in jobs), return_exceptions=True)
    failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failed:
        # One that is worth another attempt comes first: the sender drops the request after any other.
        raise max(failed, key=lambda error: error.status if isinstance(error, NormstatError) else 1000)
    return Delivered(texts.n_samples - texts.n_refused, texts.n_refused, texts.n_without_host, texts.reason)


async def _bound_host(state: AppState, agent: AgentPrincipal) -> str | None:
    if agent.host_id is None:
        return None
    async with open_read_session(state.ingest_sessions) as session:
        host = await session.get(Host, agent.host_id)
    if host is None:
        raise NotAllowed("The host of this agent token was deleted; create a new token")
    return host.name


def _make_texts(
    read: Callable[[], MetricSamples], state: AppState, agent: AgentPrincipal, *, bound_host: str | None, host_labels: Sequence[str]
) -> HostTexts:
    found = read()
    state.metric_types.learn(agent.token_id, found.types)
    return write_texts(
        found,
        host_labels=host_labels,
        bound_host=bound_host,
        known_types=state.metric_types.known(agent.token_id),
        now_ms=int(time.time() * 1000),
        max_bytes=min(MAX_TEXT_BYTES, FREE_TEXT_BYTES + MAX_GROWTH * found.n_bytes),
    )


def _job_of(agent: AgentPrincipal, host: str, key: str, text: bytes) -> IngestRequest:
    return IngestRequest(
        AgentIdentity(agent.host_id, agent.token_id, is_remembered=agent.is_remembered),
        host_name=host,
        os="",
        agent_version="",
        host_time=None,
        frames=[Frame(FrameKind.APPEND, SPEC, key, 0, len(text), key.partition(".")[0], text)],
    )


def require_hosts(delivered: Delivered) -> None:
    """Raise BadRequest when samples belong to no host: it would be visible nowhere else."""
    if delivered.n_without_host:
        raise BadRequest(
            f"{delivered.n_without_host} samples were not stored: {delivered.reason}. The other {delivered.n_samples} were stored",
            {"n_stored": delivered.n_samples, "n_refused": delivered.n_refused, "n_without_host": delivered.n_without_host},
        )
