"""What is not part of the library but shows how good it is: data sets, rivals, experiments, benchmarks."""
