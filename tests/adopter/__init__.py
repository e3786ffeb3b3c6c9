"""A project that somebody else wrote, with a tenant model of its own: the settings, the app and its tests."""
