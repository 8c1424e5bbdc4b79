"""What a trial is: the frozen contract of keys and seeds, nothing else."""
