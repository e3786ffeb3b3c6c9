"""What the forms of the pages do: the verbs of the engine, which note in the audit log who did it."""
