"""Login providers of the tests: a real one as a process of its own, and one that lies."""

import contextlib
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import httpx
import orjson
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.e2e.product import free_port, wait_until

CLIENT_ID = "normstat"
CLIENT_SECRET = "secret of the tests"


@contextlib.contextmanager
def running_provider() -> Iterator[str]:
    """The issuer of oidc-provider-mock, which authenticates whoever names himself."""
    port = free_port()
    issuer = f"http://localhost:{port}"
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true"]
    environment = os.environ | {"AUTHLIB_INSECURE_TRANSPORT": "1"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            wait_until(lambda: process.poll() is not None or _answers(issuer), "the provider")
            yield issuer
        finally:
            process.terminate()


def _answers(issuer: str) -> bool:
    try:
        return httpx.get(f"{issuer}/.well-known/openid-configuration").status_code == 200
    except httpx.HTTPError:
        return False


@functools.cache
def provider_key() -> RSAKey:
    """One key for all tests of a process: to make one takes a tenth of a second."""
    return RSAKey.generate_key(2048, parameters={"kid": "first", "use": "sig"})


class LyingProvider:
    """A provider on this machine whose every answer a test can change; it checks PKCE and takes each code once."""

    def __init__(self) -> None:
        self.keys = [provider_key()]
        self.published: list[RSAKey] | None = None
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "first"}
        self.userinfo: dict[str, Any] = {}
        self.discovery: dict[str, Any] = {}
        self.token: str | None = None
        self.status = 200
        self.n_asked: dict[str, int] = {}
        self.codes: dict[str, str] = {}
        self.received: list[dict[str, list[str]]] = []

    @contextlib.contextmanager
    def run(self) -> Iterator[str]:
        """Serve, and give the issuer."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(b"")

            def do_POST(self) -> None:
                self.answer(self.rfile.read(int(self.headers["Content-Length"])))

            def answer(self, body: bytes) -> None:
                status, found = provider.answer(self.path, parse_qs(body.decode()))
                sent = orjson.dumps(found)
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self.issuer
        finally:
            server.shutdown()
            server.server_close()

    def answer(self, path: str, form: Mapping[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """Return status and body."""
        name = path.split("?", maxsplit=1)[0]
        self.n_asked[name] = self.n_asked.get(name, 0) + 1
        if name == "/.well-known/openid-configuration":
            endpoints = {
                "authorization_endpoint": "/authorize",
                "token_endpoint": "/token",
                "jwks_uri": "/jwks",
                "userinfo_endpoint": "/userinfo",
                "end_session_endpoint": "/logout",
            }
            return 200, {"issuer": self.issuer, **{key: self.issuer + value for key, value in endpoints.items()}, **self.discovery}
        if name == "/jwks":
            return 200, {"keys": [key.as_dict(private=False) for key in (self.published or self.keys)]}
        if name == "/userinfo":
            return 200, self.userinfo
        self.received.append(dict(form))
        if self.status != 200 or self.codes.pop(form["code"][0], None) is None:
            return (self.status if self.status != 200 else 400), {"error": "invalid_grant"}
        return 200, {"access_token": "at", "token_type": "Bearer", "id_token": self.token or self.sign()}

    def sign(self, **changes: Any) -> str:
        """Return an ID token."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **self.claims, **changes}
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(self.header, claims, self.keys[-1], algorithms=[self.header["alg"]])
