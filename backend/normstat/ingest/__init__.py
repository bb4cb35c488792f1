"""Take in what agents ship: frames of a request to chunk, samples and offset in one transaction.

Responsible for: the wire protocol, batching, delivery accounts; `imports` and `reparse` feed the same path from files and from
stored bytes. Never: how a tool's output is read (`stats`). Entry point: `batching.Intake`.
"""
