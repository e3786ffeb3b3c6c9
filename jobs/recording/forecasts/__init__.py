"""The forecasts of the recorder: what it reads, what it says of starts, and what came of it. See docs/insight.md."""
