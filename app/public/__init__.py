"""What may be published, and nothing else."""
