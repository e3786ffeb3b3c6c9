"""Why a job waits: what limits it, its position in its lane, and the same in a sentence."""
