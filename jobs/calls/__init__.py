"""From a method call, or from the names in an HTTP request, to one checked request for a job."""
