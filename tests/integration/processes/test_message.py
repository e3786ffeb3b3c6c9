"""The message of a claimed job, on its way to a real broker."""

from jobs.store import Claimed
from jobs.worker import message


def test_a_try_that_follows_a_lost_connection_declares_the_queue_anew(monkeypatch):
    """After a failover the broker may not know the queue: RabbitMQ drops what is sent to it, and says nothing."""
    message.hand_over([Claimed(1, 1, "default")])
    app, declared, lost = message.celery_app(), [], []
    with app.producer_or_acquire() as producer:  # it goes back to the pool: the next message gets it
        assert producer.connection.declared_entities, "the queue is declared"
        kind, losses = type(producer.channel), producer.connection.recoverable_connection_errors
    publish, declare = kind.basic_publish, type(producer).maybe_declare

    def lose_the_first(channel, *args, **options):
        if not lost:
            lost.append(channel)
            raise losses[0]
        return publish(channel, *args, **options)

    def note(producer, queue, *args, **options):
        declared.append((queue.name, bool(lost)))
        return declare(producer, queue, *args, **options)

    monkeypatch.setattr(kind, "basic_publish", lose_the_first)
    monkeypatch.setattr(type(producer), "maybe_declare", note)
    message.hand_over([Claimed(2, 1, "default")])
    assert lost
    assert declared == [("default", True)], "once, after the loss"
    app.control.purge()
