"""Schemathesis: requests made from the OpenAPI document, right and wrong ones, against a real server process.

Never a 5xx, never an answer that the document does not have.
"""

import json
from collections.abc import AsyncIterator, Iterator
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, assume, settings
from schemathesis import GenerationMode, checks
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData

from normstat.auth import account_rows
from normstat.auth.accounts import create_agent_token
from normstat.auth.roles import Role
from normstat.auth.secret_tokens import API_TOKEN_PREFIX, new_secret
from normstat.db.session import make_engine, make_sessions, open_write_session
from tests.api.server import serving
from tests.databases import TestServer

if TYPE_CHECKING:
    # Defined for type checkers only.
    from schemathesis import HookContext
    from schemathesis.specs.openapi.schemas import OpenApiCase

# Server-sent events do not end by themselves; test_live.py has them.
ENDLESS = "follow"
MAX_ADDRESS_LENGTH = 60_000
MISSING = object()
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
# `make test-all` also sends the systematic cases: each bound and each wrong value of each parameter, thirty times as many requests.
IS_THOROUGH = settings.get_current_profile_name() == "thorough"
CONFIG = schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": IS_THOROUGH}}})
# A text of up to 100,000 characters takes seconds to plan: only `make test-all` has them. Bodies that are too large have tests of
# their own.
MAX_TEXT_LENGTH = 500


def _with_short_texts(part: Any) -> Any:
    """Return a part of an OpenAPI document with `maxLength` capped at MAX_TEXT_LENGTH."""
    if isinstance(part, dict):
        return {
            name: min(MAX_TEXT_LENGTH, value) if name == "maxLength" else _with_short_texts(value) for name, value in part.items()
        }
    return [_with_short_texts(value) for value in part] if isinstance(part, list) else part


# test_documents.py holds this file to the server's document.
DOCUMENT = json.loads((Path(__file__).parents[3] / "frontend/openapi.json").read_text())
DOCUMENT = DOCUMENT if IS_THOROUGH else _with_short_texts(DOCUMENT)
schema = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG).exclude(operation_id=ENDLESS)
sent: set[tuple[str, ...]] = set()


@schema.hook
def filter_case(context: "HookContext", case: "OpenApiCase") -> bool:
    """Leave out a wrong parameter that was sent already, and a body that was sent already.

    The systematic cases repeat each wrong value of a required parameter beside every optional one, and are half as many again for
    it: all are refused for the same value at the same place.
    """
    if case.meta is None or not isinstance(case.meta.phase.data, CoveragePhaseData):
        return True
    about = case.meta.phase.data
    place, name = about.parameter_location, about.parameter
    parts: tuple[object, ...]
    if place is None or name is None:
        return True
    if place == ParameterLocation.BODY:
        parts = (case.body, case.media_type, case.path_parameters, case.query, case.headers)
    elif case.meta.generation.mode == GenerationMode.NEGATIVE:
        parts = (about.scenario, place, name, getattr(case, place.container_name).get(name, MISSING))
    else:
        return True
    key = (case.operation.label, case.method, *map(repr, parts))
    is_new = key not in sent
    sent.add(key)
    return is_new


@pytest.fixture(scope="module")
async def tokens(server: TestServer) -> AsyncIterator[tuple[str, str, str]]:
    """The URL of a database of its own (an administrator's token that guesses may remove anything), and both tokens."""
    with server.fresh_database() as url:
        engine = make_engine(url, pool_size=1)
        async with open_write_session(make_sessions(engine)) as session:
            await account_rows.add_user(session, name="root", role=Role.ADMINISTRATOR, password_hash=None)
            secret = new_secret(API_TOKEN_PREFIX)
            await account_rows.add_api_token(
                session, name="test", role=Role.ADMINISTRATOR, token_hash=secret.token_hash, created_by="root"
            )
            agent_token, _ = await create_agent_token(session, name="test", host=None, created_by="root")
        await engine.dispose()
        yield url, secret.token, agent_token


@pytest.fixture(scope="module")
def address(tokens: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log_path: Path = tmp_path_factory.mktemp("schema") / "log"
    with serving(tokens[0], log_path) as (address, _):
        yield address


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Requests of one session look for proxies, certificates and passwords of the environment once at most; no cookie is kept."""
    with requests.Session() as session:
        session.trust_env = False
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        yield session


@schemathesis.serializer("application/x-normstat-frames", "application/x-protobuf", "application/zip")
def as_bytes(ctx: schemathesis.SerializationContext, value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


@schema.parametrize()
@settings(
    max_examples=4 if IS_THOROUGH else 3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
def test_every_operation(case: "OpenApiCase", address: str, tokens: tuple[str, str, str], session: requests.Session) -> None:
    _, api_token, agent_token = tokens
    token = agent_token if case.operation.path.endswith("/ingest") else api_token
    response = case.call(base_url=address, session=session, headers={"Authorization": f"Bearer {token}"})
    # Above this uvicorn answers by itself, before there is a request.
    assume(len(response.request.url or "") < MAX_ADDRESS_LENGTH)
    # Raises a group of failures, each with the request to repeat.
    case.validate_response(response, checks=CHECKS)
    assert response.status_code < 500
