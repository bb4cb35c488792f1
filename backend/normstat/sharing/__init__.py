"""Share links: one saved comparison or one report for people without an account.

Never: accounts (`auth`). Entry point: `share_links`.
"""
