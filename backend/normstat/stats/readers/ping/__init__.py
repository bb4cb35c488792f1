"""ping: round-trip times."""
