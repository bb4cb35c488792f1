"""normstat: keeps every sample of the *stat tools, remembers what is normal, and ranks what changed."""

__version__ = "0.1.0"
