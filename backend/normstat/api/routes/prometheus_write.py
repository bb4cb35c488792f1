"""Prometheus remote-write: series of exporters become hosts with stats (docs/import.md)."""

from functools import partial
from typing import Final

from fastapi import Request, Response

from normstat.api.http.deps import State
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.senders import MAX_PLAIN_BYTES, HostLabels, Sender, body_of, require_hosts, store_metrics
from normstat.errors import BadRequest, Overloaded, TooLarge, TooManyRequests, TooSlow, UnsupportedMediaType, shorten
from normstat.ingest.receivers.metric_samples import MetricSamples
from normstat.ingest.receivers.remote_write import parse_size, read_request_2, read_write_request, unpack_snappy

router = LazyRouter(tags=["ingest"])

PROTO_2: Final = "io.prometheus.write.v2.request"
DEFAULT_LABELS: Final = ("instance",)


@router.post(
    "/prometheus/write",
    status_code=204,
    response_class=Response,
    responses=guarded_answers(BadRequest, TooLarge, TooManyRequests, TooSlow, UnsupportedMediaType, Overloaded),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/x-protobuf": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def write_prometheus(request: Request, agent: Sender, state: State, host_label: HostLabels = None) -> Response:
    """Store the samples of a Prometheus remote-write request (1.0 or 2.0); the answer means that they are committed."""
    encoding = request.headers.get("content-encoding", "snappy").strip().lower()
    if encoding != "snappy":
        raise UnsupportedMediaType(f"Unsupported Content-Encoding {shorten(encoding)}; expected snappy")
    is_2 = PROTO_2 in request.headers.get("content-type", "").lower()
    async with body_of(request, state, agent, partial(parse_size, max_plain=MAX_PLAIN_BYTES)) as body:
        delivered = await store_metrics(
            state,
            agent,
            parse_size(body, MAX_PLAIN_BYTES),
            partial(_read, body, is_2=is_2),
            sender="prometheus",
            host_labels=host_label or DEFAULT_LABELS,
        )
    require_hosts(delivered)
    written = {"Samples": delivered.n_samples, "Histograms": 0, "Exemplars": 0}
    return Response(status_code=204, headers={f"X-Prometheus-Remote-Write-{name}-Written": str(n) for name, n in written.items()})


def _read(body: bytes, *, is_2: bool) -> MetricSamples:
    plain = unpack_snappy(body, MAX_PLAIN_BYTES)
    return read_request_2(plain) if is_2 else read_write_request(plain)
