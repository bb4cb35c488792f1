"""System logs: what the kernel and the services of a host reported. Reader, spec and captures."""
