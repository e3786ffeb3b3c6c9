"""The recorder: counts of minutes and hours, and samples of the present."""
