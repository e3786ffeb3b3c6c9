"""The processes of a worker: its parent, with a thread for each duty that nobody else may hold up, and its children."""
