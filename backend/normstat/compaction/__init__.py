"""Compaction: old samples and old raw bytes move into fewer, smaller rows, and nothing is lost.

Responsible for: which samples are sealed and which chunks are packed, when, and how fast. Never: the byte layouts (`codecs`),
reading what was moved (`samples`), deleting (`retention`). Entry points: `seal_job.Sealing` and `packing_run.run_packing` in
the background, `unseal` for people.
"""
