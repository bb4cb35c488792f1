"""Codecs: numbers and words as few bytes, and back without a bit lost.

Responsible for: the byte layouts of sealed samples, rollups, packs of raw bytes and arrays of profiles. Never: SQL, sessions, when
something is packed (`compaction`). Entry points: `sealed_codec`, `rollup_codec`, `pack_codec`, `array_codec`; `number_planes`,
`packed_numbers` and `word_columns` are their building blocks. Everything here is pure.
"""
