"""The bodies of errors, and the empty one."""

from normstat.runtime.body import Body


class ErrorInfo(Body):
    """An error: a stable code, a sentence, facts, and the id under which it is logged."""

    code: str
    message: str
    details: dict[str, str | int | float | bool | None | list[str]]
    request_id: str


class ErrorBody(Body):
    """The body of every answer that is not 2xx."""

    error: ErrorInfo


class Empty(Body):
    """An empty body: the request was carried out."""
