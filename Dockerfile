# The image only calls the make targets that CI runs without Docker.
FROM python:3.13-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/normstat
COPY . .
RUN make setup && rm -rf frontend/node_modules

FROM python:3.13-slim-bookworm
# procps and sysstat are for the optional agent, which watches the machine that the container runs on.
RUN apt-get update \
    && apt-get install -y --no-install-recommends curl make procps sysstat \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /var/lib/normstat --create-home normstat
COPY --from=build /opt/normstat /opt/normstat
WORKDIR /opt/normstat
ENV PATH="/opt/normstat/.venv/bin:$PATH"
USER normstat
EXPOSE 8080
CMD ["make", "serve"]
