"""What the readers of tracers (dtrace, bpftrace, bcc, perf-tools, systemtap) share; README.md says where what is."""
