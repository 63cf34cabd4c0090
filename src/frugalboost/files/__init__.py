"""Models in files, and files that are whole at any time."""
