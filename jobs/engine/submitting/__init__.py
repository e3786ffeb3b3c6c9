"""Submit: new jobs, alone or together."""
