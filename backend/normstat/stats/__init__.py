"""Read tool output: bytes that a tool printed in, samples out. Pure: no SQL, no HTTP, no clock.

Responsible for: specs (what a tool prints), readers (how its output is laid out), the engine under them. Never: storing or
shipping. Entry points: `catalogue` for specs, `readers` for readers.
"""
