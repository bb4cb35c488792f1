"""`normstat openapi`: prints the OpenAPI document, from which the page's types are generated."""

import json
import sys

import typer

from normstat.app import create_app
from normstat.settings import Settings

app = typer.Typer(add_completion=False)


def render_openapi() -> str:
    """Return the document as text, with sorted keys, so that it changes only with the API."""
    return json.dumps(create_app(Settings()).openapi(), indent=2, sort_keys=True) + "\n"


@app.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    sys.stdout.write(render_openapi())
