"""Their app `jobs`."""
