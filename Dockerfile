# The image is Debian with the package normstat-server installed, by the make targets that build the packages without Docker.
#
#   docker build --tag normstat .                          the server
#   docker build --target agent --tag normstat-agent .     an agent for the machine that the container runs on
ARG DEBIAN=debian:trixie-slim
ARG ALPINE=alpine:3.24

# Everything that only building needs: make, pip, Node (a Python package brings it), the sources.
FROM ${DEBIAN} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make wheel
RUN make server-deb PYTHON_VERSION=3.13
RUN make agent-root

# busybox and the script: its sampler reads /proc itself. curl posts what it prints.
FROM ${ALPINE} AS agent
RUN --mount=type=bind,from=build,source=/src/build/agent-root,target=/agent-root \
    apk add --no-cache curl \
    && cp -R /agent-root/. / \
    && adduser -D -H -u 10001 -h /var/lib/normstat -s /sbin/nologin normstat \
    && install -d -o normstat -g normstat -m 700 /var/lib/normstat
USER 10001:10001
WORKDIR /var/lib/normstat
CMD ["/opt/normstat/normstat-agent", "help"]

FROM ${DEBIAN} AS server
# A number that Kubernetes can see is not root; the package takes the account that is there.
RUN --mount=type=bind,from=build,source=/src/build,target=/packages \
    useradd --uid 10001 --home-dir /var/lib/normstat --no-create-home --shell /usr/sbin/nologin normstat \
    && install -d -o normstat -g normstat -m 700 /var/lib/normstat /var/lib/normstat/imports \
    && apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates /packages/normstat-server_*.deb \
    && rm -rf /var/lib/apt/lists/*
COPY --chmod=755 packaging/container/health.py /usr/local/bin/normstat-health
# The environment is all there is: no file of settings.
ENV NORMSTAT_ENV_FILE="" NORMSTAT_IMPORT_DIR=/var/lib/normstat/imports PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /var/lib/normstat
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=5m --retries=6 CMD ["normstat-health"]
# Several that start at once wait for each other's migrations.
CMD ["sh", "-c", "normstat migrate && exec normstat serve --host 0.0.0.0 --port 8080"]
