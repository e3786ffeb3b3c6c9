"""The parts that the pages of console and portal share."""
