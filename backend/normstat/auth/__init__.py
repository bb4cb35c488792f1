"""Accounts, sessions, tokens and roles.

Responsible for: who is asking and what they may do, login throttling, password rules, the security log. Never: routes or pages.
Entry points: `access` finds out who sent a request, `login` and `accounts` change accounts. Secrets are stored as SHA-256,
passwords as argon2id.
"""
