"""Moving: a tenant goes to another installation (a cell), with its jobs, or gets a copy of its data.

Two installations share nothing, so a person carries a file from one to the other, and a word each way. First the
function `close_and_write` closes the tenant, lets its running jobs end, and writes the file. In the other installation
`take_in` stores the rows, and answers with a receipt; the tenant stays closed. Then `give_up` takes the receipt, gives
the tenant up for good, and answers with the opening word. With that word `open_tenant` lets the jobs run there.

Until the tenant is given up it can be taken back, and the other installation cannot open it. Afterwards it is the other
way round. So no two installations ever run its jobs. Each step ends in one transaction, and may be repeated.
"""
