"""Forecasts of when waiting jobs start, and what-ifs by a replay of the past. See docs/insight.md.

The rest of the product works without it: docs/adr/0043-insight-apart.md.
"""
