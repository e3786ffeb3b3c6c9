-- Change: this session hears `wake_clock`. Who: the clock that leads.
LISTEN jobs_due
