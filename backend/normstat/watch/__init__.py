"""Watch: rules held against the samples that arrive, the episodes they find, and what silences them.

Never: SQL; what a rule is or means (rules/); sending anything to anybody. Entry point: watcher.py runs all of it, rule_book.py says
which rules hold for a host, live_judge.py judges one host; backtest_job.py holds a rule against the past before it may watch.
"""
