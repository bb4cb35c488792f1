"""Readers: how the output of one family of tools is laid out. A reader never imports another reader."""
