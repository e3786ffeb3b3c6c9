"""What the pages of console and portal share."""
