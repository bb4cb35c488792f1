"""The base of all bodies, and the bodies of errors: what every request needs."""

from pydantic import BaseModel, ConfigDict

# PostgreSQL text cannot hold the character NUL; refusing it here gives a 422 that says where.
NO_NUL = r"^[^\x00]*$"


class Body(BaseModel):
    """Base of all bodies: unknown members of a request are errors.

    `model_validate` also accepts the records of query and storage, whose attributes have the same names.
    """

    model_config = ConfigDict(extra="forbid", from_attributes=True)


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
