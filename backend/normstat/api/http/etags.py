"""Conditional requests: a client that has the current answer gets 304."""

from typing import Annotated

from fastapi import Header

IfNoneMatch = Annotated[str | None, Header(max_length=1000, include_in_schema=False)]


def has_answer(if_none_match: str | None, etag: str) -> bool:
    """Return whether the client already has the answer with this ETag."""
    return if_none_match is not None and etag in {each.strip().removeprefix("W/") for each in if_none_match.split(",")}
