"""The checkpoints of a job: the cursor that its body has told, and whether it is asked to give its slot back."""

import json
from typing import Any


class Checkpoints:
    """The stand-in outside a job: it keeps the cursor as long as it lives, and never asks for a slot."""

    def __init__(self, cursor: str | None = None) -> None:
        """Begin with the cursor of the last attempt, as JSON; None: there is none."""
        self.text = cursor

    @property
    def cursor(self) -> Any:
        """The cursor, as a copy."""
        return None if self.text is None else json.loads(self.text)

    def note(self, cursor: Any) -> bool:
        """Note a cursor; return whether it is time to store it.

        Raises TypeError for what is not JSON, and ValueError for what is too large.
        """
        self.text = json.dumps(cursor)
        return False

    def store(self) -> bool:
        """Store the cursor; return False if the job may have been asked to stop."""
        return True

    def why_back(self) -> str:
        """Return why the slot is to be given back; "": it is not."""
        return ""
