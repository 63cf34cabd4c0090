"""One fit: parameters, bins, boosting, the model."""
