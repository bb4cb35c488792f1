"""Experiments: named sets of runs with factors (threads=4, file_size=8G), repeated, and the analysis of their results.

Responsible for: means with intervals over repeats, speed-up and efficiency, scaling models (Amdahl, the Universal Scalability Law,
a bottleneck), power laws, groups by throughput and CPU, results read from text and from artefacts, CSV. Never: SQL
(`experiments.experiment_rows`), HTTP, running commands (`cli.run_command`). Entry point: `experiment_analysis.analyse_runs`.
"""
