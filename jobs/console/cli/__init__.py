"""The operator's command line: one module per subcommand, or a few that belong together."""
