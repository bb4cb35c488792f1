"""Samples of exporters: the Prometheus text format with times, which remote-write and OTLP are kept as."""
