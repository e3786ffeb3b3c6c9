"""Forecast when waiting jobs start: simulate several possible futures, and take quantiles of them. No database.

`jobs/insight/forecasts/` reads the input and stores the forecasts; see docs/insight.md.
"""
