-- Change: deletes the samples from before a moment. Who: the recorder. Locks: the rows. Index: the primary key.
DELETE FROM samples WHERE at < %(moment)s::timestamptz
