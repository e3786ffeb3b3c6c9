"""The acts and searches of operators, once for the pages, the admin, the API and the command line."""
