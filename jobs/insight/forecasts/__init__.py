"""The forecasts of the recorder: it reads a snapshot, predicts starts, and compares them with the real ones.

See docs/insight.md.
"""
