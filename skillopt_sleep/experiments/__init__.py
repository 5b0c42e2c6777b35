"""Experiments and the demo: use-cases built from the same parts as the product."""
