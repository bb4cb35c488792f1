"""Packing: old chunks of a stream move into few large rows, a third of the size, without a byte lost.

Responsible for: which chunks are packed, when, and how fast. Never: the form of packs (`storage.pack_codec`), and how raw bytes are
read (`storage.chunks`). Entry point: `packing_run.run_packing`.
"""
