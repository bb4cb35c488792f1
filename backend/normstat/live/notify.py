"""Tells open pages about new samples: one LISTEN connection for the process, one small bounded box for each reader."""


class LiveHub:
    """Gives every subscriber what the database announces."""
