"""Search by words: metrics, hosts, instances, commands and processes, baselines, saved comparisons, artefacts, events.

Never: what only the page knows (its pages and actions); the page ranks those by the same rule. Entry point: `search_answer.find`.
"""
