"""Samples that are packed away: blocks of all rows of a stat of a host in a span of time.

Never: deciding when to seal (sealing/). Entry points: `sealed_reader` for who reads samples, `sealed_rows` for who changes them,
`sealed_codec` for the packed form.
"""
