"""One module for each page, with what its forms do: the verbs of the engine, which note in the audit log who did it."""
