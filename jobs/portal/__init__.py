"""The portal of tenants: the HTTP API for their programs and the pages for their people."""
