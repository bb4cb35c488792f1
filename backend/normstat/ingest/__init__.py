"""Store data of agents: the frames of a request become chunk, samples and offset in one transaction.

Responsible for: the wire protocol, batching, line and byte accounts; `imports` and `reparse` feed the same path from files and from
stored bytes. Never: how a tool's output is read (`stats`). Entry point: `batching.IngestQueue`.
"""
