"""A random walk over everything that moves a job or changes what may run, and a naive recomputation after each step.

`world`: who acts, in which session, at what time. `callers`, `holders`, `feeders`, `operators`: the steps. `naive`: what must be
true of the rows that everybody can see. `door`: what must be true of the notes of the door; who changes what the door
keeps rewrites that one.
"""
