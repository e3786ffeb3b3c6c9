"""Who may run and who is next, as data and rules: pure, without a database.

The claim decides (jobs/sql/claiming/claim.sql); this room says the same in Python, for whoever explains, simulates or
draws what the claim will do. tests/integration/store/test_allocation.py holds both to each other.
"""
