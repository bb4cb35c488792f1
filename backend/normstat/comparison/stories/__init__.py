"""Stories: findings that tell one thing, told once: the process that did it, what it did to a resource, and who waits for it.

Never: deciding how unusual a series is (`scoring`) or what kind of change it is (`findings`). Pure: plain values, no SQL, no
HTTP, no clock. Entry point: `build_stories`.
"""
