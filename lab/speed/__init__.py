"""Benchmarks of time and memory, beside other boosters."""
