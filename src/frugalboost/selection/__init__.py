"""Many fits: which features are worth keeping, and how much each is worth on rows not seen."""
