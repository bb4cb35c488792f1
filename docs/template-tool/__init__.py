"""The tool meter: its reader, its spec and its captures."""
