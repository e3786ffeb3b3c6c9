-- Change: how far a task of the recorder is. Who: the recorder, in the transaction that has recorded it. Locks: the row.
UPDATE recorded SET upto = %(upto)s WHERE task = %(task)s
