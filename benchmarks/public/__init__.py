"""Two public benchmarks, run without Docker and through the public interface only. docs/compared.md has the figures.

- The multi-tenant scenarios of jonyoder/queue-benchmark (11fef00), with its parameters: the rows `neighbour`, `flood`,
  `burst` and `pickup` of `make bench`, with Procrastinate in the same run.
- An adapter for hardbyte/postgresql-job-queue-benchmarking (93677ca): `benchmarks.public.adapter`, and a runner of its
  chaos and pressure beside it, `python -m benchmarks.public`.
"""
