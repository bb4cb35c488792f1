"""Turn errors into the error envelope. The only place that catches every exception."""

import random
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final

import psycopg
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normstat import errors
from normstat.api.http.body import ErrorBody, ErrorInfo
from normstat.api.http.middleware import client_address
from normstat.api.http.state import AppState
from normstat.api.http.streaming import ReaderStalled
from normstat.auth.security_log import short_name
from normstat.errors import NormstatError

log = structlog.get_logger()

RETRY_AFTER_S: Final = 5
MAX_SHOWN_PROBLEMS: Final = 20
# Errors that Starlette raises itself, by status.
ERRORS_OF_FRAMEWORK: Final[Mapping[int, type[NormstatError]]] = {
    error.status: error
    for error in (
        errors.NotFound,
        errors.MethodNotAllowed,
        errors.TooLarge,
        errors.UnsupportedMediaType,
        errors.Overloaded,
    )
}
ANSWERS = dict[int | str, dict[str, object]]
ENVELOPE: Final = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorBody.__name__}"}}}


def error_answers(*causes: type[NormstatError]) -> ANSWERS:
    """Return the error responses that a route declares in OpenAPI: the envelope for each status, with its possible codes.

    Every route may answer 422 (request shape), 500 and 503 (database away); these are added. Only 422 names the model of the
    envelope, which brings it into the document: FastAPI builds a validator for each response that does, and there are hundreds.
    """
    codes: dict[int, list[str]] = {}
    always: tuple[type[NormstatError], ...] = (errors.InvalidRequest, NormstatError, errors.DatabaseAway)
    for cause in causes + always:
        known = codes.setdefault(cause.status, [])
        if cause.code not in known:
            known.append(cause.code)
    return {
        status: {"description": f"{HTTPStatus(status).phrase}: {', '.join(codes[status])}"}
        | ({"model": ErrorBody} if status == errors.InvalidRequest.status else {"content": ENVELOPE})
        for status in sorted(codes)
    }


def guarded_answers(*causes: type[NormstatError]) -> ANSWERS:
    """Return `error_answers` for a route that needs a login: adds 401 and 403."""
    return error_answers(errors.NotAuthenticated, errors.NotAllowed, *causes)


def text_answers(errors_of_route: ANSWERS, *, media_type: str, description: str) -> ANSWERS:
    """Return the declared responses of a route whose 2xx answer is not JSON; its errors use the envelope.

    FastAPI would give the errors the media type of the 2xx answer, so the envelope is referenced by name here.
    """
    answers: ANSWERS = {
        status: {"description": answer["description"], "content": ENVELOPE} for status, answer in errors_of_route.items()
    }
    answers[200] = {"description": description, "content": {media_type: {"schema": {"type": "string"}}}}
    return answers


def to_response(
    request_id: str,
    *,
    code: str,
    status: int,
    message: str,
    details: Mapping[str, str | int | float | bool | list[str] | None],
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the envelope as a response."""
    info = ErrorInfo(code=code, message=message, details=dict(details), request_id=request_id)
    return JSONResponse(ErrorBody(error=info).model_dump(mode="json"), status_code=status, headers=dict(headers or {}))


def error_response(request_id: str, error: NormstatError) -> JSONResponse:
    """Return the envelope of one of our own errors, with the headers that belong to its status."""
    headers = {}
    if error.status in {429, 503}:
        headers["Retry-After"] = str(_retry_after_s(error))
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return to_response(
        request_id, code=error.code, status=error.status, message=error.message, details=error.details, headers=headers
    )


def _note_refusal(request: Request, error: errors.NotAllowed) -> None:
    """Log every 403: a missing role, a token's limits, another site's page, a wrong old password."""
    account = getattr(request.state, "account", None)
    state: AppState = request.app.state.normstat
    state.security_log.note(
        "request_not_allowed",
        account or client_address(request),
        account=account,
        method=request.method,
        path=short_name(request.url.path),
        reason=error.message,
    )


def _retry_after_s(error: NormstatError) -> int:
    said = error.details.get("retry_after_s")
    wait_s = said if isinstance(said, int) else RETRY_AFTER_S
    # A thousand agents refused together must not come back together.
    return wait_s + random.randint(0, 2 * wait_s) if error.status == 503 else wait_s  # noqa: S311


def request_id_of(request: Request) -> str:
    """Return the id under which the request is logged."""
    return str(request.scope.get("state", {}).get("request_id", ""))


async def on_normstat_error(request: Request, error: Exception) -> JSONResponse:
    """Return the envelope of a deliberate error; log those that mean a defect."""
    assert isinstance(error, NormstatError)
    if error.status == 500:
        log.error("request_failed", code=error.code, error=error.message)
    if isinstance(error, errors.NotAllowed):
        _note_refusal(request, error)
    state: AppState = request.app.state.normstat
    return error_response(request_id_of(request), await state.outage.explain(error))


async def on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """Return 422 for a request of the wrong shape. The input is not repeated: it may be a password."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    problems = [f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}" for problem in found[:MAX_SHOWN_PROBLEMS]]
    left_out = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return to_response(
        request_id_of(request),
        code=errors.InvalidRequest.code,
        status=errors.InvalidRequest.status,
        message=f"The request does not have the documented shape: {problems[0] if problems else 'unreadable'}{left_out}",
        details={"problems": problems},
    )


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Return the envelope of what the framework refuses itself: unknown paths and methods, unreadable bodies."""
    assert isinstance(error, HTTPException)
    cause = ERRORS_OF_FRAMEWORK.get(error.status_code, NormstatError)
    status = error.status_code
    allowed = (error.headers or {}).get("Allow", "")
    match status:
        case 400:
            # FastAPI answers 422 for a body that is not JSON if it can say where, and 400 if it is not even text.
            cause, status = errors.InvalidRequest, errors.InvalidRequest.status
            message = "The body is not JSON in UTF-8"
        case 404:
            message = f"Unknown path {errors.shorten(request.url.path)}; docs/api.md lists all routes"
        case 405:
            message = f"Method {request.method} is not allowed here; allowed: {allowed}"
        case _:
            message = str(error.detail)
    return to_response(request_id_of(request), code=cause.code, status=status, message=message, details={}, headers=error.headers)


async def on_database_error(request: Request, error: Exception) -> JSONResponse:
    """Return 503 (retry) when the database is away or overloaded. Any other database error is a defect of ours: 500."""
    if not _is_database_away(error):
        log.error("request_failed", exc_info=error)
        return error_response(request_id_of(request), NormstatError("Internal server error; the server's log has the details"))
    state: AppState = request.app.state.normstat
    state.outage.note(error)
    away = errors.DatabaseAway(
        "The database is unavailable or busy; nothing was changed; try again", {"retry_after_s": RETRY_AFTER_S}
    )
    return error_response(request_id_of(request), away)


def _is_database_away(error: Exception) -> bool:
    # psycopg reports lost and refused connections, shutdown, too many connections, timeouts, deadlocks and a full disk as
    # OperationalError: all of them pass, and the client should retry.
    away = OperationalError | InterfaceError | PoolTimeout | psycopg.OperationalError | psycopg.InterfaceError
    return isinstance(error, away) or (isinstance(error, DBAPIError) and error.connection_invalidated)


class EnvelopeMiddleware:
    """Turns unexpected errors into the envelope, or aborts the response if it has begun.

    A middleware and not an exception handler, because Starlette's handler for Exception runs outside all middlewares and re-raises
    the exception.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def watch(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except ClientDisconnect:
            # The client is gone, and nothing went wrong here.
            log.debug("client_gone", method=scope["method"], path=scope["path"])
        except ReaderStalled:
            # Already logged.
            raise
        except Exception:
            log.exception("request_failed", method=scope["method"], path=scope["path"])
            if has_begun:
                # The server closes the connection: a short file must not look whole.
                raise
            failed = error_response(
                str(scope.get("state", {}).get("request_id", "")),
                NormstatError("Internal server error; the server's log has the details"),
            )
            await failed(scope, receive, send)


# The bulk paths use the driver directly: its errors come as they are.
HANDLERS: Final[Mapping[type[Exception], Callable[[Request, Exception], Awaitable[JSONResponse]]]] = {
    NormstatError: on_normstat_error,
    RequestValidationError: on_invalid_request,
    HTTPException: on_http_error,
    DBAPIError: on_database_error,
    PoolTimeout: on_database_error,
    psycopg.Error: on_database_error,
}
HANDLED: Final = tuple(HANDLERS)


def install_handlers(app: FastAPI) -> None:
    """Register the handlers of this module."""
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)


async def answer_error(request: Request, error: Exception) -> JSONResponse:
    """Return the answer to an error of one of the types in HANDLED."""
    handler = next(HANDLERS[kind] for kind in type(error).__mro__ if kind in HANDLERS)
    return await handler(request, error)
