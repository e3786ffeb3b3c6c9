"""What there is and what there was, for whoever asks: jobs, lists, counts, the present, explanations, health."""
