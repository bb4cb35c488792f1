"""Bundles: one file that carries a host and a window from one server to another, digit for digit (docs/reports.md).

Responsible for: the file's format, what goes into it, and opening one, also a hostile one. Never: how bytes become samples, which
is ingest's: a bundle carries raw bytes, and they are read again where they arrive. Entry points: `bundle_service.stream_bundle`
and `bundle_service.open_bundle`; a new kind of content is a class in `bundle_sections.py`'s form, in `bundle_service.SECTIONS`.
"""
