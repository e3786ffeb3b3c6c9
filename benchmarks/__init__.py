"""What is measured, and not tested: run each on an idle machine, with `python -m embedded run --throwaway --`."""
