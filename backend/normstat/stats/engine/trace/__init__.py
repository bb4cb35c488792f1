"""The base of tracer readers (dtrace, bpftrace, bcc, perf-tools, systemtap).

Tracers print what a script asks for: no fixed columns, but few forms. Never: the grammar of one tool (`stats.readers.trace`).
Entry points: `trace_lines` and `column_names` for lines and tables, `trace_reader` for the state between lines.
"""
