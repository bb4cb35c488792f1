"""What changed in the last ten minutes, against the hour before: python example.py http://SERVER:8080 TOKEN HOST."""

import sys
from datetime import UTC, datetime, timedelta

from normstat_client import Client


def main(url: str, token: str, host: str) -> None:
    """Print the five most unusual changes."""
    client = Client(url, token)
    now = datetime.now(UTC)
    begin = now - timedelta(minutes=10)
    found = client.findings(host, begin, now, baseline_window=(begin - timedelta(hours=1), begin))
    for row in list(zip(*found.columns.values(), strict=True))[:5]:
        print(*row)


if __name__ == "__main__":
    main(*sys.argv[1:4])
