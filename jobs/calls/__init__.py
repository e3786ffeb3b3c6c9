"""Turn a method call, or the names in an HTTP request, into one checked request for a job."""
