"""Sessions, files and evals -> tasks with a criterion each. Nothing here writes to disk; only `model` asks a model."""
