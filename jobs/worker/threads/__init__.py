"""The threads of a worker's parent, one for each duty that nothing may delay."""
