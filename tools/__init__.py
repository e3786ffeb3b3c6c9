"""Tools for developers and newcomers. They are not in the wheel."""
