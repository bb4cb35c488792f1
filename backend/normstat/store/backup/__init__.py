"""A database copied into a folder, and back."""
