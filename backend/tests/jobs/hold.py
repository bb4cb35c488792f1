"""A worker that takes an import and keeps it, for tests that kill it: `python -m tests.jobs.hold URL`."""

import asyncio
import sys

from normstat.jobs.claims import IMPORTS, open_claims


async def hold(url: str) -> None:
    async with open_claims(url, IMPORTS) as claims:
        assert claims is not None
        claim = await claims.next()
        assert claim is not None
        print(claim.id, flush=True)
        await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1]))
