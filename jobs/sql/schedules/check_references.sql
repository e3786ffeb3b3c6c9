-- Change: check foreign keys now, not at the commit. Who: the leading clock, after each submit: if a tenant is locked, its
--         jobs then fail alone, not with the whole batch. Locks: the referenced rows, shared.
SET CONSTRAINTS ALL IMMEDIATE
