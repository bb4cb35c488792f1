"""Sealed samples: blocks of all rows of a stat of a host in a span of time.

Never: the packed form (`codecs.sealed_codec`), deciding when to seal (`compaction`). Entry points: `sealed_reader` for who reads
samples, `sealed_rows` for who changes them.
"""
