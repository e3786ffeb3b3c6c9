"""The form to submit a job."""
