"""The HTTP API: one module for each noun, holding its bodies and its routes.

Responsible for: parsing requests, permissions, serialising answers, limits of requests. Never: SQL, numbers, the layout of a
tool's output. Entry point: `router.api_router`, mounted by `normstat.app`; `deps` holds what routes ask for (sessions, roles,
windows), `handlers` turns every error into one envelope. A new route needs a line in POLICY of tests/api/test_access.py, and
`make gen`.
"""
