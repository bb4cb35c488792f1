"""Artefacts: one-off output of a tool that answers a question (a table, stacks, distributions, a log), as dated evidence of a host.

Responsible for: the parts of such an output and how each is drawn, diffs of two artefacts, conclusions from several of them.
Never: how a tool's lines are read (`stats`), SQL (`records.artefact_rows`), HTTP. Entry points: `reading.read_artefact` makes parts
of bytes, `parts` says what they are, `artefact_service` stores and loads them.
"""
