"""Login by a provider: the way through with a real one, and every lie of a dishonest one."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import RSAKey
from pydantic import SecretStr
from sqlalchemy import text

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.api.http.state import AppState
from normstat.api.routes.oidc import COOKIE, decode_login, encode_login, make_oidc_login, safe_next
from normstat.auth.accounts import create_account
from normstat.auth.oidc_client import LoginState, OidcClient
from normstat.auth.roles import Role
from normstat.auth.throttle import FREE_TRIES_OF_ADDRESS
from normstat.db.session import open_write_session
from normstat.errors import BadRequest
from normstat.settings import Settings
from tests.api.people import PASSWORD, ROOT, People, run_sql
from tests.api.test_access import assert_envelope
from tests.api.test_login import CHANGE
from tests.auth.provider import CLIENT_ID, CLIENT_SECRET, LyingProvider, running_provider
from tests.auth.test_throttle import Clock

START = "/api/v1/auth/oidc/login"
BACK = "/api/v1/auth/oidc/callback"
LOGIN = LoginState("state of this login", "nonce of this login", "v" * 43)


def with_provider(state: AppState, issuer: str, **changes: Any) -> AppState:
    update: dict[str, Any] = {
        "oidc_issuer": issuer,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret": SecretStr(CLIENT_SECRET),
        "oidc_admin_groups": ("dba", "unix"),
        "oidc_operator_groups": ("ops",),
        "oidc_viewer_groups": ("staff",),
    }
    settings = state.settings.model_copy(update=update | changes)
    return replace(state, settings=settings, oidc=make_oidc_login(settings, "/api/v1"))


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider() as issuer:
        yield issuer


@pytest.fixture
async def provider(app: FastAPI, state: AppState) -> AsyncIterator[LyingProvider]:
    provider = LyingProvider()
    with provider.run() as issuer:
        provider.claims = {"sub": "4711", "preferred_username": "ann", "groups": ["ops"], "nonce": LOGIN.nonce}
        app.state.normstat = with_provider(state, issuer)
        yield provider


def place_of(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


async def come_back(
    client: httpx.AsyncClient, provider: LyingProvider, *, next_path: str = "/hosts", **query: str
) -> httpx.Response:
    """Come back from the provider with a code, in the browser that left."""
    provider.codes["code"] = "open"
    client.cookies.set(COOKIE, encode_login(LOGIN, next_path), domain="normstat.test", path="/")
    return await client.get(BACK, params={"code": "code", "state": LOGIN.state, **query})


async def roles(state: AppState) -> list[tuple[str, str, bool]]:
    async with open_write_session(state.sessions) as session:
        rows = await session.execute(text("SELECT name, role, disabled_at IS NOT NULL FROM users ORDER BY id"))
    return [(row[0], row[1], row[2]) for row in rows]


# --- a real provider ---


async def log_in_there(
    client: httpx.AsyncClient, issuer: str, sub: str, groups: list[str], next_path: str = "/graph?x=1"
) -> httpx.Response:
    """The whole way, as a browser goes it."""
    async with httpx.AsyncClient() as browser:
        await browser.put(f"{issuer}/users/{sub}", json={"preferred_username": sub, "email": "x@example.org", "groups": groups})
        there = place_of(await client.get(START, params={"next": "/graph?x=1"}))
        assert there.startswith(f"{issuer}/oauth2/authorize?")
        back = (await browser.post(there, data={"sub": sub})).headers["Location"]
    assert back.startswith("http://normstat.test/api/v1/auth/oidc/callback?")
    return await client.get(back)


async def test_the_way_through_with_a_real_provider(
    people: People, client: httpx.AsyncClient, app: FastAPI, state: AppState, issuer: str
) -> None:
    app.state.normstat = with_provider(state, issuer)
    assert (await client.get("/api/v1/auth/methods")).json() == {"provider": "single sign-on"}
    assert place_of(await log_in_there(client, issuer, "ann", ["staff", "ops"])) == "/graph?x=1"
    me = (await client.get("/api/v1/auth/me")).json()
    assert (me["name"], me["role"], me["has_password"], me["is_from_provider"]) == ("ann", "operator", False, True)
    # The groups are asked at each login.
    await log_in_there(client, issuer, "ann", ["unix"])
    assert (await client.get("/api/v1/auth/me")).json()["role"] == "administrator"
    [row] = (await client.get("/api/v1/auth/sessions")).json()["sessions"][:1]
    assert row["means"] == "provider"
    client.headers.update(CHANGE)
    token = (await client.post("/api/v1/api-tokens", json={"name": "x", "role": "operator"})).json()["token"]
    assert_envelope(await client.put("/api/v1/auth/password", json={"new_password": PASSWORD}), 403, "not_allowed")
    assert_envelope(await client.post("/api/v1/auth/second-factor", json={}), 409, "conflict")
    # Removed from all groups: the role, the sessions and the tokens are gone, until a group gives one again.
    assert place_of(await log_in_there(people.client(), issuer, "ann", ["else"])) == "/login?problem=no_group"
    assert_envelope(await client.get("/api/v1/auth/me"), 401, "not_authenticated")
    assert_envelope(await people.client(authorization=f"Bearer {token}").get("/api/v1/auth/me"), 401, "not_authenticated")
    assert await roles(state) == [("ann", "viewer", True)]
    await log_in_there(client, issuer, "ann", ["staff"])
    assert await roles(state) == [("ann", "viewer", False)]
    logged_out = (await client.post("/api/v1/auth/logout")).json()["provider_logout_url"]
    assert logged_out.startswith(f"{issuer}/oauth2/end_session?")
    assert parse_qs(urlsplit(logged_out).query)["post_logout_redirect_uri"] == ["http://normstat.test/login"]


async def test_groups_there_say_whose_hosts_one_sees(
    client: httpx.AsyncClient, admin: httpx.AsyncClient, app: FastAPI, state: AppState, issuer: str
) -> None:
    pairs = ("staff=shop", "ops=*", "dba=not there")
    app.state.normstat = with_provider(state, issuer, oidc_host_groups=pairs)
    await run_sql(state, "INSERT INTO hosts (name) VALUES ('web1'), ('db1')")
    await admin.post("/api/v1/host-groups", json={"name": "shop", "hosts": ["web1"]})
    # By their groups of now: of one host group, of none that exists, all of them, and all of them as an administrator.
    for groups, hosts in (
        (["staff"], ["web1"]),
        (["staff", "ops"], ["db1", "web1"]),
        (["dba"], ["db1", "web1"]),
        (["staff"], ["web1"]),
    ):
        await log_in_there(client, issuer, "eve", groups)
        assert [host["name"] for host in (await client.get("/api/v1/hosts")).json()["hosts"]] == hosts
    app.state.normstat = with_provider(state, issuer, oidc_host_groups=("staff=gone",))
    await log_in_there(client, issuer, "eve", ["staff"])
    assert (await client.get("/api/v1/hosts")).json()["hosts"] == []


async def test_who_has_no_group_gets_no_account(client: httpx.AsyncClient, app: FastAPI, state: AppState, issuer: str) -> None:
    app.state.normstat = with_provider(state, issuer)
    assert place_of(await log_in_there(client, issuer, "mallory", [])) == "/login?problem=no_group"
    assert SESSION_COOKIE not in client.cookies
    assert await roles(state) == []
    app.state.normstat = with_provider(state, issuer, oidc_viewer_groups=("*",))
    assert place_of(await log_in_there(client, issuer, "mallory", [])) == "/graph?x=1"


# --- the start ---


async def test_the_start_binds_the_login_to_the_browser(people: People, client: httpx.AsyncClient, provider: LyingProvider) -> None:
    answer = await client.get(START)
    query = {name: value[0] for name, value in parse_qs(urlsplit(place_of(answer)).query).items()}
    began = decode_login(client.cookies[COOKIE])
    assert began is not None
    login, next_path = began
    challenge = base64.urlsafe_b64encode(hashlib.sha256(login.verifier.encode()).digest()).rstrip(b"=").decode()
    assert query == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": "http://normstat.test/api/v1/auth/oidc/callback",
        "scope": "openid profile email",
        "state": login.state,
        "nonce": login.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    assert next_path == "/hosts"
    for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=600"):
        assert part in answer.headers["Set-Cookie"]
    other = await people.client().get(START)
    assert len({place_of(answer), place_of(other)}) == 2


async def test_without_a_provider_there_is_none(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/auth/methods")).json() == {"provider": None}
    for path in (START, BACK):
        assert_envelope(await client.get(path), 404, "not_found")


# --- attacks on the way back ---


async def test_a_way_back_that_this_browser_did_not_begin_counts_nothing(
    client: httpx.AsyncClient, provider: LyingProvider
) -> None:
    """The attacker's own code, in the victim's browser: a login as the attacker, who would then read what the victim does."""
    provider.codes["code"] = "open"
    for cookie, state in ((None, LOGIN.state), (LOGIN, "another"), (LOGIN, ""), (LOGIN, "é")):
        if cookie is not None:
            client.cookies.set(COOKIE, encode_login(cookie, "/hosts"), domain="normstat.test", path="/")
        answer = await client.get(BACK, params={"code": "code", "state": state})
        assert place_of(answer) == "/login?problem=expired"
        assert SESSION_COOKIE not in client.cookies
    assert provider.received == []


async def test_a_code_opens_one_session(client: httpx.AsyncClient, provider: LyingProvider, state: AppState) -> None:
    assert place_of(await come_back(client, provider)) == "/hosts"
    first = client.cookies[SESSION_COOKIE]
    # The browser has forgotten the login; with a kept cookie the provider refuses the code.
    assert place_of(await client.get(BACK, params={"code": "code", "state": LOGIN.state})) == "/login?problem=expired"
    client.cookies.set(COOKIE, encode_login(LOGIN, "/hosts"), domain="normstat.test", path="/")
    assert place_of(await client.get(BACK, params={"code": "code", "state": LOGIN.state})) == "/login?problem=failed"
    assert client.cookies[SESSION_COOKIE] == first
    [sent] = provider.received[:1]
    assert (sent["code_verifier"], sent["redirect_uri"]) == ([LOGIN.verifier], ["http://normstat.test/api/v1/auth/oidc/callback"])


async def test_a_session_that_was_planted_is_not_adopted(
    people: People, client: httpx.AsyncClient, provider: LyingProvider
) -> None:
    client.cookies.set(SESSION_COOKIE, "planted", domain="normstat.test", path="/")
    answer = await come_back(client, provider)
    assert "planted" not in answer.headers["Set-Cookie"]
    async with people.client(cookie=f"{SESSION_COOKIE}=planted") as thief:
        assert_envelope(await thief.get("/api/v1/auth/me"), 401, "not_authenticated")


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "\\/evil.example", "/\t/evil.example", "/\n//evil.example",
        "javascript:alert(1)",
        "/%0d%0aSet-Cookie: a=b\r\n", "/login?next=//evil.example", "", "evil.example", "/" + "x" * 2000, "/a\\b",
        "http:evil.example", "/ /evil.example",
    ],
)  # fmt: skip
def test_it_leads_to_no_other_site(path: str) -> None:
    assert safe_next(path) == "/hosts"


async def test_neither_does_a_cookie_that_somebody_changed(people: People, provider: LyingProvider) -> None:
    assert place_of(await come_back(people.client(), provider, next_path="//evil.example")) == "/hosts"


async def test_links_of_the_page_are_kept() -> None:
    for path in ("/hosts/web1?from=now-1h&panel=a%2Fb", "/comparison?a=%C3%A9#x"):
        assert safe_next(path) == path


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "W10=", base64.urlsafe_b64encode(b"[1,2,3,4]").decode(), "W" * 5000, "é"])
def test_a_cookie_that_we_did_not_set_is_no_login(cookie: str) -> None:
    assert decode_login(cookie) is None


async def test_the_providers_refusal_and_another_issuer(client: httpx.AsyncClient, provider: LyingProvider) -> None:
    client.cookies.set(COOKIE, encode_login(LOGIN, "/hosts"), domain="normstat.test", path="/")
    denied = await client.get(BACK, params={"error": "access_denied", "error_description": "<script>", "state": LOGIN.state})
    assert place_of(denied) == "/login?problem=denied"
    # Mixed up with another provider (RFC 9207).
    assert place_of(await come_back(client, provider, iss="https://evil.example")) == "/login?problem=failed"
    assert place_of(await come_back(client, provider, iss=provider.issuer, session_state="more")) == "/hosts"


async def test_codes_that_somebody_makes_up_do_not_flood_the_provider(
    client: httpx.AsyncClient, provider: LyingProvider, clock: Clock, app: FastAPI
) -> None:
    app.state.normstat = replace(app.state.normstat, oidc=with_provider(app.state.normstat, provider.issuer).oidc)
    provider.status = 400
    for _ in range(FREE_TRIES_OF_ADDRESS + 20):
        answer = await come_back(client, provider)
    assert place_of(answer) == "/login?problem=busy"
    assert len(provider.received) == FREE_TRIES_OF_ADDRESS


# --- tokens ---


OTHERS_CLAIMS: list[dict[str, Any]] = [
    {"iss": "https://evil.example"}, {"iss": None}, {"aud": "another"}, {"aud": ["another"]}, {"aud": None},
    {"aud": [CLIENT_ID, "another"]}, {"aud": [CLIENT_ID, "another"], "azp": "another"}, {"azp": "another"},
    {"exp": 1}, {"exp": None}, {"exp": "soon"}, {"exp": True}, {"exp": 10**400}, {"iat": None}, {"iat": 99_999_999_999},
    {"nbf": 99_999_999_999},
    {"nonce": None}, {"nonce": "of another login"}, {"nonce": 5}, {"nonce": "\ud800"},
    {"sub": None}, {"sub": ""}, {"sub": 4711}, {"sub": "x" * 256}, {"sub": ["4711"]}, {"sub": "a\0b"},
]  # fmt: skip


async def test_a_token_of_somebody_else_is_refused(people: People, provider: LyingProvider, state: AppState) -> None:
    for changes in OTHERS_CLAIMS:
        if changes.get("nonce") == "\ud800":
            header, _, signature = provider.sign().split(".")
            provider.token = f"{header}.{encode(changes)}.{signature}"
        else:
            provider.token = provider.sign(**changes)
        client = people.client()
        assert place_of(await come_back(client, provider)) == "/login?problem=failed", changes
        assert SESSION_COOKIE not in client.cookies
    assert await roles(state) == []


def encode(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


async def test_a_forged_signature_is_refused(people: People, provider: LyingProvider, state: AppState) -> None:
    good = provider.sign()
    claims = json.loads(base64.urlsafe_b64decode(good.split(".")[1] + "=="))
    stranger = RSAKey.generate_key(2048)
    public = provider.keys[0].as_pem(private=False)
    # With our public key as a shared secret: the classic confusion.
    head = ".".join(encode(part) for part in ({"alg": "HS256", "kid": "first"}, claims))
    digest = hmac.digest(public, head.encode(), "sha256")
    confused = f"{head}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
    other_claims = encode(claims | {"groups": ["unix"]})
    embedded = {"alg": "RS256", "jwk": stranger.as_dict(private=False)}
    for forged in (
        f"{encode({'alg': 'none'})}.{encode(claims)}.",
        confused,
        jwt.encode({"alg": "RS256", "kid": "first"}, claims, stranger),
        jwt.encode({"alg": "RS256"}, claims, stranger),
        jwt.encode(embedded, claims, stranger),
        jwt.encode({"alg": "RS256", "kid": "../../etc/passwd"}, claims, stranger),
        f"{good.split('.')[0]}.{other_claims}.{good.split('.')[2]}",
        good[:-8],
        "x.y.z",
        "",
        "é",
    ):
        provider.token = forged or "."
        client = people.client()
        assert place_of(await come_back(client, provider)) == "/login?problem=failed", forged
    assert await roles(state) == []
    # The keys were asked for again for the unknown ones, but not each time.
    assert provider.n_asked["/jwks"] <= 2
    provider.token = good
    assert place_of(await come_back(people.client(), provider)) == "/hosts"


async def test_keys_are_rotated(people: People, provider: LyingProvider, app: FastAPI) -> None:
    clock = Clock()
    oidc = app.state.normstat.oidc
    app.state.normstat = replace(app.state.normstat, oidc=replace(oidc, client=OidcClient(oidc.client.settings, clock)))
    assert place_of(await come_back(people.client(), provider)) == "/hosts"
    provider.keys.append(RSAKey.generate_key(2048, parameters={"kid": "second", "use": "sig"}))
    provider.header = {"alg": "RS256", "kid": "second"}
    assert place_of(await come_back(people.client(), provider)) == "/login?problem=failed"
    clock.now += 61
    assert place_of(await come_back(people.client(), provider)) == "/hosts"
    # A key that was withdrawn counts an hour at most.
    provider.published = provider.keys[:1]
    clock.now += 3601
    assert place_of(await come_back(people.client(), provider)) == "/login?problem=failed"


# --- accounts ---


async def test_a_local_account_is_never_taken_over(client: httpx.AsyncClient, provider: LyingProvider, state: AppState) -> None:
    async with open_write_session(state.sessions) as session:
        await create_account(session, ROOT, name="ann", role=Role.ADMINISTRATOR, password=PASSWORD)
    provider.claims |= {"email": "ann", "email_verified": True, "name": "ann"}
    await come_back(client, provider)
    assert (await client.get("/api/v1/auth/me")).json()["name"] == "ann-2"
    # Whatever it is called later, it stays that account; another subject never gets it.
    provider.claims |= {"preferred_username": "root"}
    await come_back(client, provider)
    provider.claims |= {"sub": "4712", "preferred_username": "ann-2"}
    await come_back(client, provider)
    assert [name for name, _, _ in await roles(state)] == ["ann", "ann-2", "ann-2-2"]


async def test_an_account_that_an_administrator_disabled_stays_so(
    client: httpx.AsyncClient, admin: httpx.AsyncClient, provider: LyingProvider, state: AppState
) -> None:
    await come_back(client, provider)
    assert (await admin.patch("/api/v1/users/ann", json={"is_disabled": True})).status_code == 200
    assert place_of(await come_back(client, provider)) == "/login?problem=disabled"
    provider.claims["groups"] = []
    assert place_of(await come_back(client, provider)) == "/login?problem=no_group"
    provider.claims["groups"] = ["unix"]
    assert place_of(await come_back(client, provider)) == "/login?problem=disabled"
    assert ("ann", "operator", True) in await roles(state)
    assert_envelope(await admin.patch("/api/v1/users/ann", json={"password": PASSWORD}), 409, "conflict")


@pytest.mark.parametrize("groups", [None, "unix", ["ops", {"a": 1}, None, 5], {"unix": True}, 7, [["unix"]], "\0"])
async def test_groups_of_any_shape(client: httpx.AsyncClient, provider: LyingProvider, groups: object) -> None:
    provider.claims["groups"] = groups
    expected = (
        {"unix": "administrator"}.get(groups)
        if isinstance(groups, str)
        else "operator"
        if isinstance(groups, list) and "ops" in groups
        else None
    )
    answer = await come_back(client, provider)
    if expected is None:
        assert place_of(answer) == "/login?problem=no_group"
    else:
        assert (await client.get("/api/v1/auth/me")).json()["role"] == expected


async def test_groups_of_userinfo_count_for_the_same_account_only(people: People, provider: LyingProvider) -> None:
    provider.claims["groups"] = None
    provider.userinfo = {"sub": "another", "groups": ["unix"]}
    assert place_of(await come_back(people.client(), provider)) == "/login?problem=no_group"
    provider.userinfo = {"sub": "4711", "groups": ["unix"]}
    assert place_of(await come_back(people.client(), provider)) == "/hosts"


async def test_a_provider_without_its_wits_is_unavailable(people: People, provider: LyingProvider, app: FastAPI) -> None:
    for lie in (
        {"issuer": "https://evil.example"}, {"issuer": provider.issuer + "/"}, {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": None}, {"authorization_endpoint": "javascript:alert(1)"}, {"token_endpoint": "https://[::1"},
    ):  # fmt: skip
        provider.discovery = lie
        app.state.normstat = replace(app.state.normstat, oidc=with_provider(app.state.normstat, provider.issuer).oidc)
        assert place_of(await people.client().get(START)) == "/login?problem=unavailable"
    provider.discovery = {}
    provider.status = 500
    assert place_of(await come_back(people.client(), provider)) == "/login?problem=unavailable"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"oidc_issuer": "http://login.example.org"}, "https"), ({"oidc_issuer": "login"}, "https"),
        ({"oidc_client_id": None}, "CLIENT_ID"),
        ({"oidc_viewer_groups": ()}, "VIEWER_GROUPS"), ({"oidc_scopes": "profile"}, "openid"),
        ({"oidc_host_groups": ("dba",)}, "GROUP=HOST GROUP"),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_say_so(changes: dict[str, Any], said: str) -> None:
    update = {"oidc_issuer": "https://login.example.org", "oidc_client_id": "x", "oidc_viewer_groups": ("*",)}
    with pytest.raises(BadRequest, match=said):
        make_oidc_login(Settings().model_copy(update=update | changes), "/api/v1")
