"""Step 'query': window and series keys -> columns of numbers."""
