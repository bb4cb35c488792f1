"""The diff of two artefacts: which of their parts belong together, and what changed between them. Before comes first.

Responsible for: pairs of parts, tables and distributions beside each other, totals by duration, the sentence on top. Pure.
Never: loading (`diff_service`), one artefact alone (`table_view`, `histogram_view`). Entry point: `artefact_diff.diff_artefacts`.
"""
