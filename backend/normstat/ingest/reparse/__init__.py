"""Read stored bytes again with today's specs and swap the samples in one transaction (ADR 7).

Never: bytes that are not stored yet. Entry points: `reparse_stream` for one stream, `reparse_worker` for queued ones.
"""
