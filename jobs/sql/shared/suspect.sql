-- Whether a job `j` is a suspect: three processes of light pools have died with it and others in them, and it is not known whose
-- body it was. For most jobs the number of the attempt tells enough.
j.attempt > 2
  AND (SELECT count(*) > 2 FROM failed_attempts f WHERE f.job_id = j.id AND f.error_class = 'SharedDeath')
