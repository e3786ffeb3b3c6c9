-- Change: foreign keys are checked now, not at the commit. Who: the leading clock, after each submit: a tenant that somebody
--         has locked then fails alone, and not with the whole batch. Locks: the rows that are referred to, shared.
SET CONSTRAINTS ALL IMMEDIATE
