"""Tell open pages that new samples have arrived. Never: the samples themselves. Entry point: `notify`."""
