"""Values of collectd: lines of PUTVAL, and the JSON of write_http and write_log."""
