"""A project whose tenants are rows of a model that ours cannot point to: the settings, the app and its tests."""
