"""Checks of an installation, for `normstat doctor`.

Responsible for: the checks and their limits. A check says what it found, what it expects and what to do; one that could not run
says so and is never "ok". Never: SQL (doctor/database_facts.py), printing (cli). `database_checks`, `work_checks` and
`setting_checks` are pure; `address_probe` and `file_checks` look at the network and at files. Entry point: `examination.examine`.
"""
