"""When a waiting job will start: draws of what may happen, and what may be said of them. Pure, without a database.

`jobs/recording/forecasts/` gives it what it has read, and stores what it says; see docs/insight.md.
"""
