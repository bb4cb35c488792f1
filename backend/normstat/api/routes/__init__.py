"""The routes: one module per noun, with the bodies of its lists and pages.

Responsible for: parsing requests, permissions, serialising answers. Never: SQL, statistics, the layout of a tool's output, what a
noun consists of (its feature has its body and its record).
Entry point: the noun's module. A new route needs `make gen`. Whom it lets in, limited accounts among them, and which budget it
counts against is said beside it (`http.deps`, `http.host_access.open_to_limited`, `http.row_budgets.makes_rows`). A new module
needs a place in `http.router.MODULES`.
"""
