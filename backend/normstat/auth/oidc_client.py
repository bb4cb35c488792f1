"""OpenID Connect: the authorization code flow with PKCE, up to the verified claims of the ID token.

Discovery and keys are kept for an hour. A token with an unknown key fetches the keys again, at most once a minute: providers rotate
them. The provider is asked over https only (or on this machine), without redirects, and within limits of time and size.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpx
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from normstat.auth.client_address import is_this_machine
from normstat.errors import BadRequest, NotAuthenticated, ProviderAway, TooLarge
from normstat.runtime.bounded_decoding import NotJson, load_json

# Signatures by keys that only the provider has: no shared secrets (HS256), never "none".
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEEP_S: Final = 3600.0
REFETCH_KEYS_S: Final = 60.0
TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 1 << 20
MAX_ANSWER_VALUES: Final = 100_000
# Clocks of two machines differ.
LEEWAY_S: Final = 60
# Above every time; larger numbers of JSON do not fit into a float.
MAX_TIME_S: Final = 1e12
MAX_CODE: Final = 4096
MAX_SUBJECT: Final = 255
AT_ONCE: Final = 8

Claims = Mapping[str, Any]
VerificationKey = RSAKey | ECKey | OKPKey


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Which provider, and who we are there. `redirect_uri`: where it sends browsers back."""

    issuer: str
    client_id: str
    client_secret: str | None
    scopes: str
    groups_claim: str
    redirect_uri: str
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True, repr=False)
class LoginState:
    """What a browser keeps from the start of a login to its end: no other browser can end it."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """The provider's discovery document."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    end_session_endpoint: str | None
    token_auth_methods: tuple[str, ...]


def new_login_state() -> LoginState:
    """Return new random values for one login."""
    return LoginState(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(32))


def require_safe_url(url: object, what: str) -> str:
    """Return the URL: https, or http to this machine.

    Raises: ProviderAway for any other
    """
    if isinstance(url, str):
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            host = ""
        if host and (parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(host))):
            return url
    raise ProviderAway(f"The login provider's {what} is not an https URL")


class OidcClient:
    """One provider, as this process knows it."""

    def __init__(self, settings: ProviderSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._clock = clock
        self._verify = ssl.create_default_context(cafile=settings.ca_file and str(settings.ca_file))
        self._metadata: tuple[Metadata, float] | None = None
        self._keys: tuple[list[Mapping[str, Any]], float] | None = None
        self._at_once = asyncio.Semaphore(AT_ONCE)

    async def authorization_url(self, login: LoginState) -> str:
        """Return where the browser goes to log in.

        Raises: ProviderAway
        """
        metadata = await self._discover()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(login.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.settings.redirect_uri,
            "scope": self.settings.scopes,
            "state": login.state,
            "nonce": login.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        joiner = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{joiner}{urlencode(query)}"

    async def end_session_url(self, return_to: str) -> str | None:
        """Return where the browser goes to log out at the provider. Missing: None where it offers none, or does not answer."""
        try:
            endpoint = (await self._discover()).end_session_endpoint
        except ProviderAway:
            return None
        if endpoint is None:
            return None
        query = urlencode({"client_id": self.settings.client_id, "post_logout_redirect_uri": return_to})
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"

    async def finish(self, login: LoginState, code: str) -> Claims:
        """Return the verified claims of the account that logged in, with the groups claim where the provider has it.

        Raises: NotAuthenticated when the provider or its token is refused, ProviderAway
        """
        if len(code) > MAX_CODE:
            raise NotAuthenticated("The provider's code is too long")
        metadata = await self._discover()
        async with self._at_once:
            tokens = await self._exchange(metadata, login, code)
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise NotAuthenticated("The login provider sent no ID token")
        claims = await self._verify_token(id_token, login.nonce)
        access_token = tokens.get("access_token")
        if claim_of(claims, self.settings.groups_claim) is None and metadata.userinfo_endpoint and isinstance(access_token, str):
            headers = {"Authorization": f"Bearer {access_token}"}
            info = await self._fetch("GET", metadata.userinfo_endpoint, headers=headers)
            # The answer about another account does not apply to this one.
            if info.get("sub") == claims["sub"]:
                return {**info, **claims}
        return claims

    async def _exchange(self, metadata: Metadata, login: LoginState, code: str) -> Mapping[str, Any]:
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.settings.redirect_uri,
            "code_verifier": login.verifier,
            "client_id": self.settings.client_id,
        }
        auth = None
        if self.settings.client_secret is not None:
            if "client_secret_basic" in metadata.token_auth_methods:
                auth = httpx.BasicAuth(self.settings.client_id, self.settings.client_secret)
            else:
                body["client_secret"] = self.settings.client_secret
        return await self._fetch("POST", metadata.token_endpoint, data=body, auth=auth)

    async def _verify_token(self, token: str, nonce: str) -> Claims:
        try:
            header = jws.extract_compact(token.encode()).headers()
            algorithm, key_id = header.get("alg"), header.get("kid")
            if algorithm not in ALGORITHMS:
                raise NotAuthenticated("The ID token is signed by an algorithm that is not allowed")
            claims = jwt.decode(token, await self._find_key(str(algorithm), key_id), algorithms=[str(algorithm)]).claims
        except (JoseError, ValueError) as error:
            raise NotAuthenticated(f"The ID token is not valid ({type(error).__name__})") from error
        check_claims(claims, self.settings, nonce=nonce, now_s=time.time())
        return claims

    async def _find_key(self, algorithm: str, key_id: object) -> VerificationKey:
        found = _pick(await self._read_keys(KEEP_S), algorithm, key_id)
        if found is None:
            # The provider may have a new one.
            found = _pick(await self._read_keys(REFETCH_KEYS_S), algorithm, key_id)
        if found is None:
            raise NotAuthenticated("The ID token is signed with a key that the login provider does not publish")
        return found

    async def _read_keys(self, max_age_s: float) -> list[Mapping[str, Any]]:
        if self._keys is None or self._clock() - self._keys[1] >= max_age_s:
            answer = await self._fetch("GET", (await self._discover()).jwks_uri)
            keys = answer.get("keys")
            if not isinstance(keys, list):
                raise ProviderAway("The login provider's keys cannot be read")
            self._keys = ([key for key in keys if isinstance(key, dict)], self._clock())
        return self._keys[0]

    async def _discover(self) -> Metadata:
        if self._metadata is None or self._clock() - self._metadata[1] >= KEEP_S:
            url = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            self._metadata = (to_metadata(await self._fetch("GET", url), self.settings.issuer), self._clock())
        return self._metadata[0]

    async def _fetch(
        self,
        method: str,
        url: str,
        *,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: httpx.BasicAuth | None = None,
    ) -> Mapping[str, Any]:
        """Return the JSON object of the answer. Raises: ProviderAway, NotAuthenticated when the provider refuses (4xx)."""
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                httpx.AsyncClient(verify=self._verify, trust_env=False, timeout=TIMEOUT_S) as client,
            ):
                request = client.build_request(method, url, data=data, headers={"Accept": "application/json", **(headers or {})})
                answer = await client.send(request, stream=True, auth=auth)
                body = bytearray()
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > MAX_ANSWER_BYTES:
                        raise ProviderAway("The login provider's answer is too long")
                await answer.aclose()
        except (httpx.HTTPError, OSError, TimeoutError) as error:
            raise ProviderAway(f"The login provider does not answer ({type(error).__name__})") from error
        if method == "POST" and 400 <= answer.status_code < 500:
            raise NotAuthenticated(f"The login provider refused the code (status {answer.status_code})")
        if answer.status_code != 200:
            raise ProviderAway(f"The login provider answered with status {answer.status_code}")
        try:
            found = load_json(bytes(body), MAX_ANSWER_VALUES)
        except (NotJson, TooLarge):
            found = None
        if not isinstance(found, dict):
            raise ProviderAway("The login provider's answer is not a JSON object")
        return found


def to_metadata(found: Mapping[str, Any], issuer: str) -> Metadata:
    """Return the parsed discovery document.

    Raises: ProviderAway when it is another provider's, or has URLs without TLS
    """
    if found.get("issuer") != issuer:
        raise ProviderAway("The login provider names another issuer than NORMSTAT_OIDC_ISSUER; both must be equal to the letter")
    methods = found.get("token_endpoint_auth_methods_supported")

    def optional(name: str) -> str | None:
        return None if found.get(name) is None else require_safe_url(found[name], name)

    return Metadata(
        authorization_endpoint=require_safe_url(found.get("authorization_endpoint"), "authorization_endpoint"),
        token_endpoint=require_safe_url(found.get("token_endpoint"), "token_endpoint"),
        jwks_uri=require_safe_url(found.get("jwks_uri"), "jwks_uri"),
        userinfo_endpoint=optional("userinfo_endpoint"),
        end_session_endpoint=optional("end_session_endpoint"),
        # The default of the specification.
        token_auth_methods=tuple(map(str, methods)) if isinstance(methods, list) else ("client_secret_basic",),
    )


def _pick(keys: list[Mapping[str, Any]], algorithm: str, key_id: object) -> VerificationKey | None:
    """Return the key that the token names; of one that names none, the only key that fits."""
    kind = {"R": "RSA", "P": "RSA", "E": "OKP" if algorithm == "EdDSA" else "EC"}[algorithm[0]]
    fitting = [
        key for key in keys if key.get("kty") == kind and key.get("use", "sig") == "sig" and key.get("alg", algorithm) == algorithm
    ]
    named = [key for key in fitting if key.get("kid") == key_id] if key_id is not None else fitting
    if len(named) != 1:
        return None
    key = JWKRegistry.import_key(dict(named[0]))
    return key if isinstance(key, RSAKey | ECKey | OKPKey) else None


def check_claims(claims: Claims, settings: ProviderSettings, *, nonce: str, now_s: float) -> None:
    """Check that the token is of this provider, for this client, for this login, and of now.

    Raises: NotAuthenticated
    """
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    issued, expires, not_before = _to_time(claims.get("iat")), _to_time(claims.get("exp")), _to_time(claims.get("nbf", 0))
    said_nonce, subject = claims.get("nonce"), claims.get("sub")
    problem = None
    if claims.get("iss") != settings.issuer:
        problem = "another issuer"
    elif settings.client_id not in audiences:
        problem = "another client"
    elif (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != settings.client_id:
        problem = "another authorized party"
    elif issued is None or expires is None or not_before is None:
        problem = "no times"
    elif expires + LEEWAY_S <= now_s:
        problem = "a time in the past"
    elif issued - LEEWAY_S > now_s or not_before - LEEWAY_S > now_s:
        problem = "a time in the future"
    elif not isinstance(said_nonce, str) or not hmac.compare_digest(said_nonce.encode("utf-8", "replace"), nonce.encode()):
        problem = "another login"
    elif not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT or "\0" in subject:
        problem = "no subject"
    if problem is not None:
        raise NotAuthenticated(f"The ID token is for {problem}")


def _to_time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_TIME_S else None


def claim_of(claims: Claims, name: str) -> object:
    """Return a claim; dots lead into nested ones (`realm_access.roles`). Missing: None."""
    if name in claims:
        return claims[name]
    found: object = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def groups_of(claims: Claims, name: str) -> frozenset[str]:
    """Return the groups of the claim: a list of texts, or one text."""
    found = claim_of(claims, name)
    if isinstance(found, str):
        return frozenset({found})
    return frozenset(group for group in found if isinstance(group, str)) if isinstance(found, list) else frozenset()


def check_provider_settings(settings: ProviderSettings) -> None:
    """Check what an administrator set.

    Raises: BadRequest
    """
    try:
        require_safe_url(settings.issuer, "issuer")
    except ProviderAway:
        raise BadRequest("NORMSTAT_OIDC_ISSUER must be an https URL, such as https://login.example.org/realms/ops") from None
    if "openid" not in settings.scopes.split():
        raise BadRequest("NORMSTAT_OIDC_SCOPES must contain openid")
