"""Sealed samples: blocks of all rows of a stat of a host in a span of time.

Never: the packed form (`codecs.sealed_codec`), deciding when to seal (`compaction`). Entry points: `sealed_reader` to read
samples, `sealed_rows` to change them.
"""
