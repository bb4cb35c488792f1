"""What the readers of tracers (dtrace, bpftrace, bcc, perf-tools, systemtap) share.

Tracers print what a script tells them to: no fixed columns, but few forms. Never: the grammar of one tool (`stats.readers.trace`).
Entry points: `trace_lines` and `column_names` for lines and tables, `trace_reader` for the state between lines.
"""
