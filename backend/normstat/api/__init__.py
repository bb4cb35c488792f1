"""The HTTP interface: thin routes, one module for each noun."""
