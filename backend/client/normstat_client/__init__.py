"""Read samples, baselines, comparisons and events of a normstat server, and note some: docs/cli.md.

What belongs here: the client for other people's programs, which needs nothing but Python. Nothing of the server is imported.
"""

from normstat_client.client import Client, NormstatError
from normstat_client.table import Table

__all__ = ["Client", "NormstatError", "Table"]
