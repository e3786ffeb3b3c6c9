-- Change: the leading clock looks when the next moment is. Who: whoever has made something due at a moment of its own.
NOTIFY jobs_due
