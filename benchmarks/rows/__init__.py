"""The rows. Each has BARS, and measure(directory), which may write logs there and returns figures."""
