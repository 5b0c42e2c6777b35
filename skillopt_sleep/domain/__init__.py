"""What the engine talks about: frozen data, the error tree, events and the seams. Nothing here does I/O."""
