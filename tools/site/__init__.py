"""The documentation as a site: `make docs`. The pages are those of the repository, as they stand; see mkdocs.yml."""
