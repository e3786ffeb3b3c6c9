"""The rules of the claim in Python: which jobs may start, and in which order. No database.

The claim itself is SQL (jobs/sql/claiming/claim.sql). This package has the same rules for code that explains,
simulates or forecasts what the claim does. tests/integration/store/test_allocation.py checks that both agree.
"""
