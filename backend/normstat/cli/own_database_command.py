"""`normstat own-database`: creates a role for normstat that owns its database and is not a superuser."""

import typer

from normstat.db.owner import make_owner
from normstat.errors import NormstatError
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)


@app.command()
def own_database() -> None:
    """Create the role and the database of NORMSTAT_DATABASE_URL, as the superuser in NORMSTAT_ADMIN_URL.

    A role that was a superuser loses that, and keeps its database. The command may be repeated. Stop normstat before.
    """
    settings = load_settings()
    if settings.admin_url is None:
        typer.echo(
            "normstat: NORMSTAT_ADMIN_URL is not set; expected a superuser: postgresql://NAME:PASSWORD@HOST/postgres", err=True
        )
        raise typer.Exit(1)
    try:
        is_converted = make_owner(settings.admin_url, settings.database_url)
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
    typer.echo("the role was a superuser; now it only owns its database" if is_converted else "the role owns its database")
