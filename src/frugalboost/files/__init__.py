"""Models in files, and atomic writes of files and folders."""
