"""Readers of tracers: dtrace, bpftrace, bcc, systemtap, strace."""
