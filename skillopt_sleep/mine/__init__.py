"""Sessions, files and data sets -> tasks with a criterion each. Nothing here calls a model or writes to disk."""
