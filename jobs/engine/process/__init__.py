"""The process around the engine: its runtime, its host, and the user code in it."""
