"""The HTTP API: one module per noun, with its request and response bodies and its routes.

Responsible for: parsing requests, permissions, serialising answers, request limits. Never: SQL, statistics, the layout of a tool's
output. Entry point: `router.list_routes`; `lazy_routing` imports and prepares a route when a request needs it; `deps` provides
what routes depend on (sessions, roles, windows), `handlers` turns every error into the error envelope. A new route needs
`make gen`, and a line in DEVIATIONS of tests/api/test_access.py unless viewers read and operators change; a new module of routes
needs a place in `router.MODULES`.
"""
