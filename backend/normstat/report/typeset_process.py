"""Compiles one document in a process of its own: `python -m normstat.report.typeset_process FOLDER FORMAT`.

The folder holds `main.typ` and what it reads; the document is written to `out` beside them. Typst keeps 300 MB of
results after some reports and cannot be interrupted: the memory ends with the process, and the process can be killed.
"""

import resource
import sys
from importlib import resources
from pathlib import Path
from typing import Final

import typst

MAX_MEMORY_BYTES: Final = 3 << 30
MAX_CPU_S: Final = 60
# Two pixels for each unit of an SVG, of which typst counts 96 an inch.
PPI: Final = 192


def main() -> None:
    """Compile the document; write the error to standard error and end with 1 where that fails."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    folder, is_png = Path(sys.argv[1]), sys.argv[2] == "png"
    with resources.as_file(resources.files("normstat.report") / "fonts") as path:
        fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[path])
        try:
            # Without tags: those of 100 kB of lists are 10 MB.
            made = typst.compile(
                folder / "main.typ", root=folder, font_paths=fonts, format="png" if is_png else "pdf", ppi=PPI, pdf_tags=False
            )
        except typst.TypstError as error:
            sys.exit(str(error.message))
    (folder / "out").write_bytes(made)


if __name__ == "__main__":
    main()
