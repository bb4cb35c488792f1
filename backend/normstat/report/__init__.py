"""Step 'report': a comparison as one file that needs nothing else."""
