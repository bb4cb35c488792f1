"""Stories: findings with one cause, told once: the process, its effect on a resource, and what waits for it.

Never: deciding how unusual a series is (`scoring`) or what kind of change it is (`findings`). Pure: plain values, no SQL, no
HTTP, no clock. Entry point: `build.build_stories`.
"""
