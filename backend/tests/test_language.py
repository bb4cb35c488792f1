"""Names and sentences use the words of docs/glossary.md, and none of those that it replaces."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "backend/normstat"
PAGE = CHECKOUT / "frontend/src"
AGENT = CHECKOUT / "agents"
GLOSSARY = CHECKOUT / "docs/glossary.md"
# What tells of the past, or of the words themselves.
TELLS_OF_WORDS = {"docs/glossary.md", "CHANGELOG.md"}
# What reads formats of the past, by their names.
READS_OLD_NAMES = {"backend/normstat/codecs/array_codec.py"}


# Files that still have tell-tales. Lower the number when lines go, and never raise it.
TELL_TALES = Path(__file__).parent / "tell_tales.txt"
MAX_TELL_TALES = 2


@cache
def banned(column: int, section: str = "Words we do not use") -> dict[str, str]:
    """Return the words of a column of the table in a section of the glossary, each with what to say instead."""
    table = GLOSSARY.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found: dict[str, str] = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and not cells[0].startswith(("say", "---")):
            found |= {word.strip(): cells[0] for word in cells[column].split(",") if word.strip()}
    return found


def split_name(name: str) -> str:
    """Return `HostProfile` and `host_profile` as `_host_profile_`, so that whole words are found in it."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return f"_{words.strip('_').lower()}_"


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements in a node, in its classes and functions too. Expressions, which are most of a tree, hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from statements(child)


def names_of_python() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        place = str(path.relative_to(CHECKOUT))
        if place in READS_OLD_NAMES:
            continue
        yield place, path.stem
        for node in statements(ast.parse(path.read_text())):
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield f"{place}:{node.lineno}", node.name
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    yield f"{place}:{node.lineno}", name
                case _:
                    pass


def names_of_api() -> Iterator[tuple[str, str]]:
    document = json.loads((CHECKOUT / "frontend/openapi.json").read_text())
    for path, methods in document["paths"].items():
        yield path, re.sub(r"\W+", "_", path)
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                yield path, parameter["name"]
    for name, schema in document["components"]["schemas"].items():
        yield f"schema {name}", name
        for member in schema.get("properties", ()):
            yield f"schema {name}", member
        for word in schema.get("enum", ()):
            yield f"schema {name}", str(word)


def names_of_page() -> Iterator[tuple[str, str]]:
    for path in sorted([*PAGE.rglob("*.ts"), *PAGE.rglob("*.tsx")]):
        place = str(path.relative_to(CHECKOUT))
        yield place, path.stem
        if ".gen." not in path.name:
            for found in re.finditer(r"\b(?:function|class|interface|type|const)\s+(\w+)", path.read_text()):
                yield place, found[1]


def sentences() -> Iterator[tuple[str, str]]:
    for path in sorted(
        [*(CHECKOUT / "docs").rglob("*.md"), *CHECKOUT.glob("*.md"), *AGENT.rglob("*.md"), *(AGENT / "src").iterdir()]
    ):
        place = str(path.relative_to(CHECKOUT))
        if place not in TELLS_OF_WORDS:
            yield place, path.read_text()
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.toml"), *PAGE.rglob("*.ts"), *PAGE.rglob("*.tsx")]):
        if (place := str(path.relative_to(CHECKOUT))) not in READS_OLD_NAMES and ".gen." not in place:
            yield place, path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("names", [names_of_python, names_of_api, names_of_page])
def test_names_use_the_words_of_the_glossary(names: Callable[[], Iterator[tuple[str, str]]]) -> None:
    words = {split_name(word): word for word in banned(1) if not word.isupper()}
    # A word in capitals is the beginning of a constant's name.
    beginnings = {f"{word}_": word for word in banned(1) if word.isupper()}
    # In one search, as nearly all names have none of them. Words of a name share the line between them.
    search = re.compile(f"(?=({'|'.join(map(re.escape, words))}))").finditer
    found = []
    for place, name in names():
        wrong = [words[match[1]] for match in search(split_name(name))]
        wrong += [word for beginning, word in beginnings.items() if name.startswith(beginning)]
        found += [f"{place}: {name} (not {word}: {banned(1)[word]})" for word in wrong]
    assert not found, "\n".join(found)


def find_phrases(text: str, phrases: dict[str, str]) -> Iterator[str]:
    """Yield the line of each phrase in a text, with what to say instead."""
    lowered = text.lower()
    for phrase, say in phrases.items():
        # Most are nowhere, and to look for a text is quick.
        if phrase.lower() in lowered:
            for match in re.finditer(rf"\b{re.escape(phrase)}\b", text, re.IGNORECASE):
                yield f"{text.count(chr(10), 0, match.start()) + 1}: {phrase!r}; say {say}"


def test_sentences_use_the_words_of_the_glossary() -> None:
    found = [f"{place}:{line}" for place, text in sentences() for line in find_phrases(text, banned(2))]
    assert not found, "\n".join(found)


def test_the_list_of_files_with_tell_tales_only_shrinks() -> None:
    """A file that is not listed has none, and a listed one has some: when it is clean, its line goes."""
    listed = set(TELL_TALES.read_text().split())
    found = {place: list(find_phrases(text, banned(2, "Tell-tales"))) for place, text in sentences()}
    new = [f"{place}:{line}" for place, lines in found.items() for line in lines if place not in listed]
    assert not new, "\n".join(new)
    clean = sorted(place for place in listed if not found.get(place))
    assert not clean, f"remove from {TELL_TALES.name}: {clean}"
    assert len(listed) <= MAX_TELL_TALES, "more files have tell-tales than before (docs/glossary.md)"


def test_the_list_of_words_is_read() -> None:
    assert banned(1)["yardstick"] == "change scale"
    assert "so many" in banned(2, "Tell-tales")
    assert "nobody" not in banned(2)
    assert split_name("HTTPGhostBand") == "_http_ghost_band_"
    assert split_name("MAX_ROWS") == "_max_rows_"
