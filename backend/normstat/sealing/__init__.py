"""Move samples of past days from rows into sealed blocks, and back.

Never: the packed form and reading it (storage/sealed/). Entry points: `seal_job` in the background, `unseal` for people.
"""
