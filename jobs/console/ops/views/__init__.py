"""The pages, one module each, with the actions of their forms: verbs of the engine, which write the audit log."""
