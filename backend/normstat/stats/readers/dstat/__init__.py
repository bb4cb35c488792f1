"""dstat and its successors dool and pcp-dstat: the CSV of `--output`."""
