"""A process of a light pool: many attempts at once, as coroutines on one event loop."""
