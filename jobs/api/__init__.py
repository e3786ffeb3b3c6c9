"""The HTTP API, `/api/v1`: who calls (auth), what goes over the wire (inputs, schemas), the endpoints, problems."""
