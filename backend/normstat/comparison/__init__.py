"""Compare an incident with a baseline and rank what changed.

Responsible for: reading both sides, scoring every series, classifying, grouping and wording the findings. Never: HTML
(`report`), HTTP (`api`) or the statistics kept of a baseline (`profiles`). Entry point: `service`; the result's shape is in
`model`.
"""
