"""A suite that compares job queues under many tenants: the same bodies, the same scenarios, one adapter for each queue.

The runner knows no queue. It starts fresh engines, asks an adapter in a process of its own (`host.py`), and believes
only what the bodies tell the bell. docs/fair.md has the figures, and how to write an adapter.
"""
