"""Experiments on published data sets, and the names that research code imports."""
