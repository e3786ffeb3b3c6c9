"""The recorder: it counts attempts by minute and hour, samples the present, and closes days."""
