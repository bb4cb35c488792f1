"""Exports of Netdata: JSON lines of its exporting engine, its metrics for Prometheus, and rows of its charts."""
