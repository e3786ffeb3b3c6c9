"""The page "Find", and what the palette of all pages offers."""
