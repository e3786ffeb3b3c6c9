-- The database deletes these rows with their parents. Django would delete them first, and fail if one is added meanwhile.
ALTER TABLE failed_attempts ADD CONSTRAINT failed_attempts_job_id
FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE schedule_runs ADD CONSTRAINT schedule_runs_schedule_id
FOREIGN KEY (schedule_id) REFERENCES schedules (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
