"""The HTTP API: one module per noun, with its request and response bodies and its routes.

Responsible for: parsing requests, permissions, serialising answers, request limits. Never: SQL, statistics, the layout of a tool's
output. Entry point: `router.list_routes`; `lazy_routing` imports and prepares a route when a request needs it; `deps` provides
what routes depend on (sessions, roles, windows), `handlers` turns every error into the error envelope. A new route needs a line in
POLICY of tests/api/test_access.py, and `make gen`; a new module of routes a place in `router.MODULES`.
"""
