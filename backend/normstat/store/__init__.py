"""Step 'store': tables, sessions and the bulk path into them."""
