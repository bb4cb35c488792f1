"""Rewrites the expected files of all captures and prints the difference; `make golden` calls it. CI never does."""

import difflib
import sys

from tests.golden_captures import captures, render


def main() -> None:
    for capture in captures():
        new = render(capture.result())
        path = capture.expected_path
        old = path.read_text() if path.exists() else ""
        if new != old:
            name = f"{capture.name}.expected.json"
            lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), name, name)
            sys.stdout.writelines(lines)
            path.write_text(new)


if __name__ == "__main__":
    main()
