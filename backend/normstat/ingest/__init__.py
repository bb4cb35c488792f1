"""Step 'ingest': the body of a request -> frames -> chunk, samples and offset in one transaction."""
