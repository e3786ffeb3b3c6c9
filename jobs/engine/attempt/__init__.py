"""One attempt of a job in its process: its body, and all that comes before and after it."""
