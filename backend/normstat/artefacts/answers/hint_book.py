"""The hints of hints.toml, each with its source."""

import functools
import tomllib
from importlib import resources

from normstat.artefacts.answers.answer_model import AnswerHint


@functools.cache
def load_hints() -> dict[str, AnswerHint]:
    """Return the hints by name."""
    text = (resources.files("normstat.artefacts.answers") / "hints.toml").read_text(encoding="utf-8")
    return {name: AnswerHint(entry["text"], entry["source"]) for name, entry in tomllib.loads(text).items()}


def hint(name: str) -> AnswerHint:
    """Return a hint.

    Raises: KeyError
    """
    return load_hints()[name]
