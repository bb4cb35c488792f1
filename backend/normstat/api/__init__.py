"""The HTTP API: `http` is its machinery, `routes` has one module per noun."""
