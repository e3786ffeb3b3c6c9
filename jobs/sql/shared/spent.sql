-- Whether a budget that job `j` spends is used up. Most jobs spend none: then nothing is read. Index: primary key.
j.spends IS NOT NULL
  AND EXISTS (SELECT FROM spent_budgets b WHERE b.tenant_id = j.tenant_id AND b.unit = ANY(j.spends))
