"""Log format: one event for each thing that happened, with a fixed name and keys; JSON, or columns on a terminal."""

import logging
import sys
from typing import Final

import structlog
from structlog.typing import Processor

# SQLAlchemy's code in a class of ours logs under our name.
SQLALCHEMY_POOL: Final = "normstat.db.session.ShrinkingPool"


def configure_logging(level: str) -> None:
    """Send our log and that of the libraries to standard error in one format."""
    is_terminal = sys.stderr.isatty()
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    # Plain tracebacks in both formats: the fancy ones print local variables, and some of those are passwords.
    ending: list[Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if is_terminal
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending]
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for chatty in (
        "uvicorn",
        "uvicorn.error",
        "alembic",
        "apscheduler",
        "sqlalchemy",
        "asyncio",
        "psycopg",
        "mcp",
        "httpx",
        SQLALCHEMY_POOL,
    ):
        # Their info level logs every step, and queries, which may be private; their warnings matter.
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
    # It logs every event that it sends.
    logging.getLogger("sse_starlette").setLevel(logging.WARNING)
