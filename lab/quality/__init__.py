"""Benchmarks of quality: test error with few features, beside other ways to select."""
