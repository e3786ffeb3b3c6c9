-- Reads:  whether a running attempt was asked to stop. Who: its holder. Index: primary key.
SELECT cancel_requested_at IS NOT NULL FROM jobs WHERE id = %(id)s AND attempt = %(attempt)s AND status = 'running'
