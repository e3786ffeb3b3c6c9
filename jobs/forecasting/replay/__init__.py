"""What other limits would have done: a replay of the record, with the rules of the claim. Pure; docs/insight.md."""
