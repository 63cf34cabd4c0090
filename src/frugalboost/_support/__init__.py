"""What every room needs: threads, progress, the loading of the core."""
