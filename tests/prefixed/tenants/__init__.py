"""Their app `tenants`."""
