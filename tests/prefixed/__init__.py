"""A project with apps and tables of our names, and so a prefix for ours: tests/integration/project/test_prefix.py."""
