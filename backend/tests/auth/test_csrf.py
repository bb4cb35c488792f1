"""Which requests could come from another site's page."""

from collections.abc import Callable

import pytest
from starlette.datastructures import Headers

from normstat.auth.csrf import check_browser_request, check_origin
from normstat.errors import NotAllowed


def refusal(check: Callable[[], None]) -> str | None:
    """Return the message of the refusal, None when the request is allowed."""
    try:
        check()
    except NotAllowed as error:
        return str(error)
    return None


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_needs_no_header(method: str) -> None:
    from_elsewhere = Headers({"origin": "https://evil.example", "host": "ours"})
    assert refusal(lambda: check_browser_request(method, from_elsewhere)) is None
    # The same headers are refused where something changes.
    assert refusal(lambda: check_browser_request("POST", from_elsewhere)) is not None


@pytest.mark.parametrize("value", [None, "", "0", "true"])
def test_changes_need_the_header(value: str | None) -> None:
    with pytest.raises(NotAllowed, match="X-Normstat-Request"):
        check_browser_request("POST", Headers({} if value is None else {"X-Normstat-Request": value}))


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://ours:8080", "ours:8080"),
        ("https://ours", "ours"),
        ("https://ours", "ours:443"),
        ("http://OURS", "ours"),
        ("http://[::1]:8080", "[::1]:8080"),
    ],
)
def test_our_own_pages_may(origin: str, host: str) -> None:
    ours = Headers({"X-Normstat-Request": "1", "Origin": origin, "Host": host})
    assert refusal(lambda: check_browser_request("DELETE", ours)) is None


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://ours.evil.example", "http://ours:9090", "http://x[y"]
)
def test_other_pages_may_not(origin: str) -> None:
    with pytest.raises(NotAllowed, match="comes from a page of"):
        check_origin(Headers({"Origin": origin, "Host": "ours:8080"}))


def test_without_origin_nothing_is_wrong() -> None:
    assert refusal(lambda: check_origin(Headers({"Host": "ours"}))) is None
