"""What every room needs: threads, progress, loading the core."""
