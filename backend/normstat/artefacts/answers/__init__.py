"""Conclusions from an artefact and the series of its host: rates, shares of time, bytes for each call, stalls, hints.

Responsible for: arithmetic over parts and means of series, each answer with its formula and sources; hints, in hints.toml.
Never: an invented number: where a series is missing, the answer names the tool that would have recorded it. Pure but for
`answer_service`, which reads. Entry points: `artefact_answers.answer_all`, `artefact_answers.series_needed`,
`answer_service.answer_artefact`.
"""
