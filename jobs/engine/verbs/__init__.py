"""The actions of people on jobs, job types, workers and limits."""
