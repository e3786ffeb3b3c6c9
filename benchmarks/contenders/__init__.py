"""Three ways to run a job in the background, with one interface: prepare, submit, fill, begin, worker."""
