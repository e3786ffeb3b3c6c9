-- The door, between steps 1 and 2, where a dispatch hears first whether it may stay: its client must not keep the waiting place
-- while it stalls. PostgreSQL ends such a session after so long; the clock dispatches in any case.
SELECT set_config('idle_in_transaction_session_timeout', '5s', true)
