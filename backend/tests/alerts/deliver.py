"""A process that delivers, for tests that kill it: `python -m tests.alerts.deliver URL`."""

import asyncio
import sys
from datetime import timedelta

from normstat.alerts.alert_delivery import run_delivery
from normstat.db.session import make_engine, make_sessions
from normstat.settings import Settings


async def deliver(url: str) -> None:
    """Deliver until killed; what another process left behind is in doubt after a moment."""
    engine = make_engine(url, pool_size=4)
    settings = Settings(database_url=url, public_url="https://normstat.example.org")
    await run_delivery(settings, make_sessions(engine), poll_s=0.05, every_s=0.05, doubt=timedelta(seconds=0.2))


if __name__ == "__main__":
    asyncio.run(deliver(sys.argv[1]))
