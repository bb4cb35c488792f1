"""Accounts, sessions, tokens and roles.

Responsible for: authentication and authorisation, login throttling, password rules, the security log. Never: routes or pages. Entry
points: `access` authenticates requests, `login` and `accounts` change accounts. Secrets are stored as SHA-256, passwords as
argon2id.
"""
