"""Read the present and the past for pages, API and commands: jobs, lists, counts, explanations, health."""
