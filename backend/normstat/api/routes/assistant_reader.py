"""Reads this server's own API for an assistant, in this process: with its token, so that each route decides what it may see."""

from typing import Any, Final

import httpx
from fastapi import Request

from normstat.api.http.turnstile import in_same_slot

# What says who asks, and by which way; the rest belongs to the assistant's own request.
PASSED_ON: Final = ("authorization", "host", "x-forwarded-for", "x-forwarded-proto")
# A comparison waits for others, and then takes seconds.
TIMEOUT_S: Final = 120.0


class RouteRefusal(Exception):
    """A route did not answer with 2xx: its message and status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class ApiReader:
    """GET requests to the routes of the application that serves a request, by the account of that request."""

    def __init__(self, request: Request) -> None:
        self._app = in_same_slot(request.app)
        peer = request.client
        self._client = ("", 0) if peer is None else (peer.host, peer.port)
        self._headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        self._base = f"{request.url.scheme}://{request.url.netloc}/api/v1"

    async def get(self, path: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the JSON object that a route answers.

        Raises: RouteRefusal
        """
        transport = httpx.ASGITransport(self._app, client=self._client)
        async with httpx.AsyncClient(transport=transport, base_url=self._base, headers=self._headers, timeout=TIMEOUT_S) as client:
            answer = await client.get(path, params=parameters)
        body: dict[str, Any] = answer.json()
        if answer.is_success:
            return body
        raise RouteRefusal(body["error"]["message"], answer.status_code)
