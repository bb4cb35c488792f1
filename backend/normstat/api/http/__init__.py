"""The machinery of the HTTP API: what every route shares.

Responsible for: matching a path to its route, sessions and roles as dependencies, host visibility, limits and queues of requests,
bodies, errors, kept answers. Never: SQL, statistics, the meaning of a noun. Entry points: `router.list_routes`; `lazy_routing`
imports and prepares a route when a request needs it; `deps` provides what routes depend on, `handlers` turns every error into the
error envelope.
"""
