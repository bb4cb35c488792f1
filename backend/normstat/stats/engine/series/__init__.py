"""Lines that hold one number of a series each: values of collectors, labelled numbers, counters of `perf stat`.

Never: lines of many columns (`lines`, `row`). Entry point: `single_series`, which readers of such lines derive from.
"""
