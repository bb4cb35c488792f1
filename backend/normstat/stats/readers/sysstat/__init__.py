"""Readers of sar in its three forms: System V text, sadf lines and sysstat's JSON."""
