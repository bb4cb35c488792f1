"""Shared by all modules: memory, metrics, logs, bounded decoding, work budgets, separate processes.

Never: SQL, HTTP, settings, anything of this product's data. Entry points: `work_budget`, `isolated_module`, `metrics`, `logs`;
`bounded_decoding` decodes untrusted data.
"""
