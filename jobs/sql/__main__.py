"""`python -m jobs.sql claim`: print a statement with its chapters, as PostgreSQL gets it and counts its lines."""

import sys

from jobs.sql import whole

sys.stdout.write(whole(sys.argv[1]))
