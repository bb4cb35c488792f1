"""Browsers in words; whatever a stranger sends, the words are of our list."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.auth.browser_words import browser_in_words

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/131.0.0.0 Safari/537.36", "Chrome 131 on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0", "Edge 131 on Windows"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36", "Chrome 131 on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
         "Safari 18 on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1",
         "Safari 18 on iOS"),
        ("Mozilla/5.0 (X11; SunOS i86pc; rv:102.0) Gecko/20100101 Firefox/102.0", "Firefox 102 on Solaris"),
        ("python-httpx/0.28.1", "python-httpx 0"),
        ("", ""),
    ],
)  # fmt: skip
def test_known_browsers(header: str, words: str) -> None:
    assert browser_in_words(header) == words


@given(st.text() | st.from_regex(r"(Firefox|Chrome|curl)/.{0,9}.*"))
def test_the_words_are_ours(header: str) -> None:
    assert re.fullmatch(r"(?:[A-Za-z -]+ [0-9]{1,4})?(?: on )?(?:[A-Za-z]+)?", browser_in_words(header), re.ASCII)
