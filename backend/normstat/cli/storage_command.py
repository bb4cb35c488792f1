"""`normstat storage`: shows what uses the disk, and checks what is stored."""

from typing import Final

import typer

from normstat.backup.inspection import Inspection, inspect_store
from normstat.cli.db_session import exit_if_damaged, print_table, run_in_session, run_or_exit
from normstat.cli.progress import ProgressDisplay
from normstat.db.session import WriteSession
from normstat.doctor.packed_checks import CHECKS
from normstat.query.disk_usage import StorageInfo, read_storage_info
from normstat.runtime.readable import count_of, format_bytes
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)

# With fewer, most of a table is what an empty one takes.
ENOUGH_VALUES: Final = 100_000


@app.callback(invoke_without_command=True)
def storage(context: typer.Context) -> None:
    """Show what uses the disk, how fast it grows, and when it will be full."""
    if context.invoked_subcommand is None:
        _show_usage()


@app.command()
def check() -> None:
    """Read all that is stored and say what is damaged; exit with 3 when something is. docs/recover.md says what helps."""

    def work() -> Inspection:
        with ProgressDisplay("checked") as show:
            return inspect_store(load_settings().database_url, CHECKS, show.show)

    found = run_or_exit(work)
    size = format_bytes(found.n_packed_bytes)
    typer.echo(f"{count_of(found.n_rows, 'row')} read, {size} of packed values checked: {len(found.damage)} damaged")
    exit_if_damaged([damage.describe() for damage in found.damage])


def _show_usage() -> None:
    settings = load_settings()

    async def read(session: WriteSession) -> StorageInfo:
        return await read_storage_info(session, settings.database_url, settings.database_dir, settings.seal_after_days)

    record = run_in_session(read)
    parts = ", ".join(f"{part.part} {format_bytes(part.bytes)}" for part in record.parts)
    typer.echo(f"{record.kind}: {format_bytes(record.database_bytes)} ({parts})")
    raw = record.raw
    packed = f"{format_bytes(raw.n_packed_bytes)} of them are packed into {format_bytes(raw.packed_table_bytes)}, the others"
    typer.echo(
        f"raw bytes: {format_bytes(raw.n_bytes)} received; {packed if raw.n_packed_bytes else 'they'} take "
        f"{format_bytes(raw.chunk_table_bytes)}"
    )
    full = "unknown" if record.days_until_full is None else f"in {record.days_until_full:.0f} days"
    typer.echo(
        f"grows by {format_bytes(record.growth_bytes_per_day)} a day; free {format_bytes(record.disk.free_bytes)} of "
        f"{format_bytes(record.disk.total_bytes)}; full {full}"
    )
    if record.is_before_sealing:
        typer.echo("Samples of the last days are stored as rows. Packed, a day later, they take a fraction of that.")
    if record.stats:
        typer.echo()
        print_table(
            [
                ("stat", "table", "index", "sealed", "samples", "of these sealed", "bytes/value", "per day"),
                *(
                    (
                        stat.stat,
                        format_bytes(stat.table_bytes),
                        format_bytes(stat.index_bytes),
                        format_bytes(stat.sealed_bytes),
                        f"{stat.n_samples}",
                        f"{stat.n_sealed}",
                        "-" if stat.bytes_per_value is None or stat.n_values < ENOUGH_VALUES else f"{stat.bytes_per_value:.2f}",
                        format_bytes(stat.bytes_per_day),
                    )
                    for stat in sorted(record.stats, key=lambda stat: -(stat.table_bytes + stat.index_bytes + stat.sealed_bytes))
                ),
            ]
        )
    if record.hosts:
        typer.echo()
        print_table(
            [
                ("host", "samples", "raw bytes", "number", "per day", "first", "last"),
                *(
                    (
                        host.host,
                        format_bytes(host.sample_bytes),
                        format_bytes(host.chunk_bytes),
                        f"{host.n_samples}",
                        format_bytes(host.bytes_per_day),
                        "-" if host.first_sample_at is None else f"{host.first_sample_at:%Y-%m-%d %H:%M}",
                        "-" if host.last_sample_at is None else f"{host.last_sample_at:%Y-%m-%d %H:%M}",
                    )
                    for host in sorted(record.hosts, key=lambda host: -(host.sample_bytes + host.chunk_bytes))
                ),
            ]
        )
