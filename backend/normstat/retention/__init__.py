"""Delete hosts, samples, chunks and rejected lines that are older than the rules allow. Entry point: `retention_run`."""
