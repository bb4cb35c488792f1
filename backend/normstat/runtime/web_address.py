"""Addresses on the web that people give: checked before they are stored, and shown without what may be a secret."""

import re
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

MAX_URL_LENGTH: Final = 2000
VISIBLE: Final = re.compile(r"[\x21-\x7e]+( [\x21-\x7e]+)*")


def check_url(url: str) -> str:
    """Return the URL.

    Raises: ValueError, when it is not an http or https URL, or has a name and a password in it
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"not a URL: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("expected a URL that begins with http:// or https:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a name and a password do not belong into the URL; use `authorization`")
    if len(url) > MAX_URL_LENGTH or VISIBLE.fullmatch(url) is None or " " in url:
        raise ValueError(f"a URL has no blanks, only ASCII characters, and at most {MAX_URL_LENGTH} of them")
    if port == 0:
        raise ValueError("port 0 cannot be reached")
    return url


def check_secret_url(url: SecretStr | None) -> SecretStr | None:
    """Return the URL as `check_url` does. Missing: None for none"""
    if url is not None:
        check_url(url.get_secret_value())
    return url


def hide_path(url: SecretStr | None) -> str:
    """Return the scheme and the host of a URL whose path may be a secret. Missing: empty without one"""
    if url is None:
        return ""
    parts = urlsplit(url.get_secret_value())
    return f"{parts.scheme}://{parts.netloc}"
