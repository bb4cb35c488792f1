"""Rows that several features share: events, episodes, scores, artefacts, tags of hosts, webhooks, share links, the audit log.

Responsible for: the statements that read and write them. Never: what to do about them (`watch`, `alerts`, `artefacts`, ...); rows
of a single feature, which lie in its own package. Entry point: the noun's module.
"""
