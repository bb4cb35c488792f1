"""Receive data of other monitoring systems: Prometheus remote-write and OTLP, written as text into streams that a reader reads.

Responsible for: the bytes of those protocols, and the text of each host. Never: what a sample means (stats/readers/exposition).
Entry points: `remote_write.read_write_request`, `otlp.read_metrics`, `host_texts.write_texts`.
"""
