"""What operators do and look for, once for the pages, the admin, the API and the command line, which only show it."""
