"""OpenTelemetry metrics by OTLP over HTTP: series of collectors and programs become hosts with stats (docs/import.md)."""

from typing import Final

from fastapi import Request, Response

from normstat.api.http.deps import State
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.senders import MAX_PLAIN_BYTES, HostLabels, Sender, body_of, store_metrics
from normstat.errors import BadRequest, Overloaded, TooLarge, TooManyRequests, TooSlow, UnsupportedMediaType, shorten
from normstat.ingest.protocol import unpack
from normstat.ingest.receivers.metric_samples import MetricSamples
from normstat.ingest.receivers.otlp import format_partial, read_metrics, read_metrics_json

router = LazyRouter(tags=["ingest"])

PROTOBUF, JSON = "application/x-protobuf", "application/json"
DEFAULT_LABELS: Final = ("host.name", "host_name", "instance")


@router.post(
    "/otlp/v1/metrics",
    response_class=Response,
    responses=guarded_answers(BadRequest, TooLarge, TooManyRequests, TooSlow, UnsupportedMediaType, Overloaded),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {PROTOBUF: {"schema": {"type": "string", "format": "binary"}}, JSON: {"schema": {"type": "object"}}},
        }
    },
)
async def write_otlp(request: Request, agent: Sender, state: State, host_label: HostLabels = None) -> Response:
    """Store the metrics of an OTLP request; the answer means that they are committed, and says how many points were rejected."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if encoding not in ("gzip", "identity", "") or media not in (PROTOBUF, JSON):
        raise UnsupportedMediaType(
            f"Unsupported Content-Encoding {shorten(encoding)} or Content-Type {shorten(media)}; expected gzip or identity, and "
            f"{PROTOBUF} or {JSON}"
        )
    is_gzip = encoding == "gzip"
    async with body_of(request, state, agent, lambda body: MAX_PLAIN_BYTES if is_gzip else len(body)) as body:

        def read() -> MetricSamples:
            plain = unpack(body, MAX_PLAIN_BYTES) if is_gzip else body
            return read_metrics(plain) if media == PROTOBUF else read_metrics_json(plain)

        # What a packed body holds is not known before: it is unpacked in a thread.
        n_bytes = MAX_PLAIN_BYTES if is_gzip else len(body)
        delivered = await store_metrics(state, agent, n_bytes, read, sender="otlp", host_labels=host_label or DEFAULT_LABELS)
    n_rejected = delivered.n_refused + delivered.n_without_host
    message = delivered.reason or "rejected samples are on the page of their host, each with its reason"
    return Response(format_partial(n_rejected, message, is_json=media == JSON), media_type=media)
