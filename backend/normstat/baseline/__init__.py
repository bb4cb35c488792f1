"""Step 'compare': what is normal, and what differs from it."""
