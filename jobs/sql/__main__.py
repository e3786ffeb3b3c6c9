"""`python -m jobs.sql claim`: print a statement with its chapters, as PostgreSQL gets it and counts its lines."""

import sys

from jobs.sql import statement

sys.stdout.write(statement(sys.argv[1]))
