"""All deliberate errors of normstat, with stable codes and HTTP status.

A message says what was found, what was expected, and what to do. Quoted input goes through `shorten`.
"""

from collections.abc import Mapping
from typing import ClassVar

Detail = str | int | float | bool | None


def shorten(text: str, limit: int = 80) -> str:
    """Return the text as a Python literal, cut to about `limit` characters, so that no message carries a whole payload."""
    if len(text) <= limit:
        return repr(text)
    return f"{text[:limit]!r}... ({len(text)} characters)"


class NormstatError(Exception):
    """Base of all errors with a code; `details` are facts for machines, `message` is the sentence for people.

    Where the message is about a member of the body, `details` has it by its name; a secret's value is None.
    """

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str, details: Mapping[str, Detail] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Detail] = dict(details or {})


class DamagedChunk(NormstatError):
    """The stored bytes of a stream cannot be decompressed: disk damage or manual changes."""

    code = "damaged_chunk"
    status = 500


class DamagedSamples(NormstatError):
    """A block of sealed samples cannot be read: disk damage, manual changes, or a newer normstat wrote it."""

    code = "damaged_samples"
    status = 500


class DamagedArtefact(NormstatError):
    """A stored part or the raw text of an artefact cannot be read: disk damage, manual changes, or a newer normstat wrote it."""

    code = "damaged_artefact"
    status = 500


class BadFrame(NormstatError):
    """The body of an ingest request does not consist of frames; nothing of it was stored."""

    code = "bad_frame"
    status = 400


class BadRequest(NormstatError):
    """A parameter has the right shape but an invalid value (an empty window, an unknown zone)."""

    code = "bad_request"
    status = 400


class UnknownHost(NormstatError):
    """The request names a host that this server does not answer to; see NORMSTAT_ALLOWED_HOSTS."""

    code = "unknown_host"
    status = 400


class WeakPassword(NormstatError):
    """The password is too easy to guess; the message says why."""

    code = "weak_password"
    status = 400


class NotAuthenticated(NormstatError):
    """Not logged in, or the token is unknown, expired or revoked."""

    code = "not_authenticated"
    status = 401


class SecondFactorNeeded(NormstatError):
    """The password is right; the account also asks for a code of its authenticator app. `details.reason`: missing or wrong."""

    code = "second_factor_needed"
    status = 401


class NotAllowed(NormstatError):
    """The account's role does not allow the request."""

    code = "not_allowed"
    status = 403


class ReadOnly(NotAllowed):
    """The server takes no changes (NORMSTAT_READ_ONLY)."""

    code = "read_only"


class NotFound(NormstatError):
    """The named thing does not exist."""

    code = "not_found"
    status = 404


class NoData(NormstatError):
    """The window has no samples; the message says when there are some."""

    code = "no_data"
    status = 404


class MethodNotAllowed(NormstatError):
    """The path exists, but does not support this method."""

    code = "method_not_allowed"
    status = 405


class Conflict(NormstatError):
    """The request conflicts with the present state (a name taken, a link used)."""

    code = "conflict"
    status = 409


class TooLarge(NormstatError):
    """A body or an answer exceeds its limit."""

    code = "too_large"
    status = 413


class NoSpace(NormstatError):
    """The server has no disk space for the data; nothing was stored."""

    code = "no_space"
    status = 507


class TooSlow(NormstatError):
    """A body did not arrive in time; nothing of it was stored."""

    code = "too_slow"
    status = 408


class UnsupportedMediaType(NormstatError):
    """The body has an encoding or type that this path does not accept."""

    code = "unsupported_media_type"
    status = 415


class InvalidRequest(NormstatError):
    """The request does not have the documented shape."""

    code = "invalid_request"
    status = 422


class HeadTooLarge(NormstatError):
    """The head of a request has too many bytes or fields; the connection is closed."""

    code = "head_too_large"
    status = 431


class TooManyRequests(NormstatError):
    """Too many attempts, or too many new names, in a short time; answered with Retry-After."""

    code = "too_many_requests"
    status = 429


class DatabaseAway(NormstatError):
    """The database is unavailable; answered with Retry-After, and nothing was acknowledged."""

    code = "database_away"
    status = 503


class ProviderAway(NormstatError):
    """The login provider does not answer, or not as OpenID Connect demands."""

    code = "provider_away"
    status = 503


class Overloaded(NormstatError):
    """More requests than this server can hold; answered with Retry-After, and nothing was acknowledged."""

    code = "overloaded"
    status = 503


class SpecError(NormstatError):
    """A spec file is invalid; the message names the file and the key."""

    code = "bad_spec"
    status = 500


class MigrationError(NormstatError):
    """The database has a schema version that this program does not know."""

    code = "bad_schema_version"
    status = 500


class HalfRestored(MigrationError):
    """A restore into the database was interrupted: only the same restore may go on there."""
