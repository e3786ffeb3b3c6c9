"""Pure decisions: given facts, they say what is to happen. Nothing here imports Django or reads a clock."""
