"""Speed, measured beside the rivals."""
