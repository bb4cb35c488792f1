"""The agent under every shell, against a small server that keeps to docs/wire-format.md."""
