"""The scores of a host: how far it was from its normal, minute by minute."""

from datetime import UTC, datetime

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, InWindow, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.watch.scores import score_history
from normstat.watch.scores.score_history import ScoreHistory

router = LazyRouter(prefix="/hosts", tags=["hosts"], dependencies=[NEEDS_VIEWER])


@router.get("/{host}/scores", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_scores(host: HostPath, window: InWindow, session: ReadSession) -> ScoreHistory:
    """Return the anomaly scores of a host by subsystem, of the minutes that begin in the window; of long windows in steps."""
    return await score_history.read_history(session, host, window, datetime.now(UTC))
