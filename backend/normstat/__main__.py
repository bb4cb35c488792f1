"""`python -m normstat`: the same as the `normstat` command."""

from normstat.cli import app

app()
