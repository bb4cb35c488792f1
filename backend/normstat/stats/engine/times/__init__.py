"""When a line was printed: clocks and dates in any form, zones, summer time, and the lines of time before calls of a tool.

Never: what else a line says. Entry points: `timestamps` reads a time of a line, `timeline` puts it on the stream's time axis.
"""
