"""Tells open pages that new samples are there."""
