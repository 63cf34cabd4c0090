"""Many fits: paths, backward elimination, held-out importance, cross-validation."""
