"""The process of `normstat up` once its options are read: the libraries that read them take 8 MB, and it runs for months."""

import os
import pickle
import sys
from collections.abc import Callable
from typing import NoReturn, Protocol

from normstat.errors import NormstatError


class Runnable(Protocol):
    """What runs until it is stopped."""

    def run(self) -> None:
        """Run until it is stopped."""


def go_on(make: Callable[..., Runnable], *arguments: object, **options: object) -> NoReturn:
    """Replace this process by one that makes and runs this.

    Its command line has the words `normstat up` and their options, by which other commands find it (local/running_installation.py).
    """
    reader, writer = os.pipe()
    # A pipe holds more than this: the write does not wait for a reader.
    with os.fdopen(writer, "wb") as file:
        pickle.dump((make, arguments, options), file)
    os.set_inheritable(reader, True)  # noqa: FBT003 - its name says it
    os.execv(sys.executable, [sys.executable, "-P", "-m", __name__, "normstat", *sys.argv[1:], str(reader)])  # noqa: S606


def main() -> None:
    """Run what `go_on` left."""
    with os.fdopen(int(sys.argv[-1]), "rb") as file:
        make, arguments, options = pickle.load(file)  # noqa: S301 - written by ourselves
    try:
        make(*arguments, **options).run()
    except NormstatError as error:
        sys.exit(f"normstat: {error.message}")


if __name__ == "__main__":
    main()
