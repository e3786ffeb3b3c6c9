"""`python -m jobs.sql claim`: print a statement with its chapters, as PostgreSQL gets it and counts its lines."""

import sys

from jobs.sql import files, whole

sys.stdout.write(whole(files()[sys.argv[1]]))
