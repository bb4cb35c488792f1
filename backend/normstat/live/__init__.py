"""Notify open pages of new samples. Never: the samples themselves. Entry point: `notify`."""
