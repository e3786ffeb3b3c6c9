"""The recorder: it counts attempts by minute and hour, samples the present, closes days and forecasts starts."""
