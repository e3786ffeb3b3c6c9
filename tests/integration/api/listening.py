"""Conversations with an event stream."""

import asyncio
import json

from asgiref.sync import sync_to_async
from django.db import connections


def path_of(job) -> str:
    return f"/api/v1/jobs/{job.pk}/events"


def run(conversation):
    """Run it, and close the connection of the thread that looks."""

    async def whole():
        try:
            return await conversation()
        finally:
            await sync_to_async(connections.close_all)()

    return asyncio.run(whole())


def do(verb, *args, **kwargs):
    """Do it in a thread, as somebody else would."""
    return sync_to_async(verb)(*args, **kwargs)


def events(text):
    """(name, id, data) of each."""
    heard = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            heard.append((fields["event"], fields["id"], json.loads(fields["data"])))
    return heard
