"""The browser of a session in words: "Firefox 128 on Linux".

The header is untrusted: only its digits and names from this list are used.

>>> browser_in_words("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
'Firefox 128 on Linux'
>>> browser_in_words("curl/8.5.0"), browser_in_words("<b>")
('curl 8', '')
"""

import re
from typing import Final

# The order counts: every browser also names those that it imitates.
BROWSERS: Final = (
    ("Edge", re.compile(r"\bEdgA?/([0-9]{1,4})")),
    ("Opera", re.compile(r"\bOPR/([0-9]{1,4})")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/([0-9]{1,4})")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/([0-9]{1,4})")),
    ("Chrome", re.compile(r"\b(?:HeadlessChrome|Chrome|CriOS)/([0-9]{1,4})")),
    ("Safari", re.compile(r"\bVersion/([0-9]{1,4})[\d.]* (?:Mobile/\w+ )?Safari/")),
    ("curl", re.compile(r"^curl/([0-9]{1,4})")),
    ("python-httpx", re.compile(r"^python-httpx/([0-9]{1,4})")),
)
SYSTEMS: Final = (
    ("Android", re.compile(r"\bAndroid\b")),
    ("iOS", re.compile(r"\b(?:iPhone|iPad)\b")),
    ("Windows", re.compile(r"\bWindows NT\b")),
    ("macOS", re.compile(r"\bMac OS X\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Solaris", re.compile(r"\bSunOS\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)
MAX_READ: Final = 1000


def browser_in_words(user_agent: str) -> str:
    """Return browser and system. Missing: "" where neither is known."""
    header = user_agent[:MAX_READ]
    browser = next((f"{name} {match[1]}" for name, pattern in BROWSERS if (match := pattern.search(header))), "")
    system = next((name for name, pattern in SYSTEMS if pattern.search(header)), "")
    return f"{browser} on {system}" if browser and system else browser or system
