"""Share links: a window of one host for people without an account. Never: accounts (`auth`). Entry point: `share_links`."""
