"""Watch: rules evaluated on arriving samples, the episodes they find, and mutes.

Never: SQL; what a rule is or means (rules/); sending messages. Entry point: watcher.py runs all of it, watch_process.py in a
process of its own for a large fleet; rule_book.py says which rules apply to a host, live_judge.py judges one host;
backtest_job.py tries a rule on the past before it may watch; normal_changes.py looks each night for what changed for good.
"""
