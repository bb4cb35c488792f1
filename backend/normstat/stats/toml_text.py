"""Check a user's TOML before it is parsed, since a parser may need memory quadratic in its length.

A key of 20,000 parts, 40 KB of `a.a.a...`, takes tomllib fourteen seconds and gigabytes. No spec has more than a few parts,
brackets within brackets or digits, so anything beyond is refused at once.
"""

import re
import tomllib
from typing import Final

from normstat.errors import SpecError

MAX_BYTES: Final = 256 * 1024
MAX_KEY_PARTS: Final = 8
MAX_DEPTH: Final = 16
# Characters of a word without quotes: a key, a number, a date.
MAX_WORD: Final = 200
# Tokens that matter outside of strings, and long words.
SIGN: Final = re.compile(rf"""'''|\"\"\"|["'#\[\]{{}}.,=\n]|[A-Za-z0-9_+:-]{{{MAX_WORD + 1}}}""")
END_OF_BASIC: Final = re.compile(r"""(?:[^\\"\n]|\\.)*+\"""")
END_OF_LONG_BASIC: Final = re.compile(r"""(?:[^\\"]|\\.|"(?!""))*+\"""\"{0,2}""", re.DOTALL)


def parse_toml(text: str) -> dict[str, object]:
    """Return the text as a table.

    Raises: SpecError when it is no TOML, or larger or more nested than a spec can be
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise SpecError(f"The spec has more than {MAX_BYTES // 1024} KiB")
    _require_simple(text)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as trouble:
        # TOMLDecodeError is a ValueError; so is what `int` says of very many digits.
        raise SpecError(f"The spec is not TOML: {trouble}") from trouble


def _require_simple(text: str) -> None:
    """Scan the text once, in linear time."""
    depth = n_parts = at = 0
    while (found := SIGN.search(text, at)) is not None:
        sign, at = found[0], found.end()
        match sign:
            case "#":
                at = _find(text, "\n", at)
            case '"' | "'" | '"""' | "'''":
                at = _skip_string(text, sign, at)
            case "[" | "{":
                depth, n_parts = depth + 1, 0
                if depth > MAX_DEPTH:
                    raise SpecError(f"The spec has more than {MAX_DEPTH} brackets within each other in line {_line_of(text, at)}")
            case "]" | "}":
                depth, n_parts = max(0, depth - 1), 0
            case ".":
                n_parts += 1
                if n_parts >= MAX_KEY_PARTS:
                    raise SpecError(f"The spec has a key of more than {MAX_KEY_PARTS} parts in line {_line_of(text, at)}")
            case "\n" | "=" | ",":
                n_parts = 0
            case _:
                raise SpecError(f"The spec has a word of more than {MAX_WORD} characters in line {_line_of(text, at)}")


def _skip_string(text: str, sign: str, at: int) -> int:
    """Return the place after a string; the end of the text where it has no end, which the parser will say."""
    if sign in ("'", "'''"):
        end = text.find(sign, at)
        return len(text) if end < 0 else end + len(sign)
    found = (END_OF_BASIC if sign == '"' else END_OF_LONG_BASIC).match(text, at)
    return len(text) if found is None else found.end()


def _find(text: str, sign: str, at: int) -> int:
    end = text.find(sign, at)
    return len(text) if end < 0 else end


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
