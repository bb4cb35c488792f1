"""What any module may use: memory, metrics, logs, bounded decoding, budgets of work, processes of their own.

Never: SQL, HTTP, settings, anything of this product's data. Entry points: `work_budget`, `isolated_module`, `metrics`, `logs`;
`bounded_json` and `bounded_zstd` decode what others send.
"""
