"""The routes: one module per noun, with its request and response bodies.

Responsible for: parsing requests, permissions, serialising answers. Never: SQL, statistics, the layout of a tool's output. Entry
point: the noun's module. A new route needs `make gen`, and a line in DEVIATIONS of tests/api/test_access.py unless viewers read
and operators change; a new module of routes needs a place in `http.router.MODULES`.
"""
