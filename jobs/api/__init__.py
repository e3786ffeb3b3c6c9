"""The HTTP API, `/api/v1`: authentication, schemas of requests and responses, endpoints, problems."""
