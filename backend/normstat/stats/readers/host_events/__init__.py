"""Host events: what happened on a machine, as its agent noticed it. Reader, spec and captures."""
