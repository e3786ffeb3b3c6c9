"""The pages of what-if questions."""
