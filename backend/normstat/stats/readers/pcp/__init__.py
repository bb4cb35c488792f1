"""Archives of Performance Co-Pilot: reader, spec and captures."""
