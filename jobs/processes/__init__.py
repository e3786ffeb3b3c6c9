"""The processes of a worker: its parent, with a thread for each duty that nothing may delay, and its children."""
