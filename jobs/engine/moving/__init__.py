"""Moving: a tenant goes to another installation (a cell), with its jobs, or gets a copy of its data.

Two installations share nothing, so a person carries a file from one to the other, and a word each way:

1. here: `close_and_write` closes the tenant, lets its running jobs end, and writes the file;
2. there: `take_in` stores the rows, and answers with the receipt. The tenant stays closed;
3. here: `give_up` takes the receipt, gives the tenant up for good, and answers with the opening word;
4. there: `open_tenant` takes that word.

Until step 3 the tenant can be taken back here, and nobody can open it there; from step 3 on it is the other way round.
So no two installations ever run its jobs. Each step is one transaction, and may be repeated.
"""
