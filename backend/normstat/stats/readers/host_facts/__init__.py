"""Host facts: what a machine is. Reader, spec and captures."""
