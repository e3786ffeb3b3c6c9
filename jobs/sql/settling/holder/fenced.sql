-- The row of the attempt that ends, for a statement of its holder: fenced by the attempt, and by the process if there is one.
FROM clock CROSS JOIN before
WHERE id = %(id)s
  AND attempt = %(attempt)s  -- guard I3
  AND status = 'running'  -- guard I3
  AND (%(pid)s::int IS NULL OR (
      -- include shared/held_by
  ))  -- guard I3
