"""What servers print about themselves: databases, caches, web servers."""
