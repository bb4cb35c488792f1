"""Step 'read': bytes that a tool printed -> samples. Pure: no SQL, no HTTP, no clock."""
