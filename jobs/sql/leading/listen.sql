-- Change: this session listens to `wake_clock`. Who: the leading clock.
LISTEN jobs_due
