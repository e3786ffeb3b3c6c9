"""Forecast when waiting jobs start: simulate several possible futures, and take quantiles of them. No database.

`jobs/insight/recording/` reads the input and stores the forecasts; see docs/insight.md.
"""
