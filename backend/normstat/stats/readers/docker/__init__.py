"""docker stats and podman stats: what containers use."""
