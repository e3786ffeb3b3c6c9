"""How a request is refused: each says what to correct, or when to ask again."""


class InvalidRequest(ValueError):
    """A job that cannot be accepted. Nothing was stored.

    field: what to correct, as its user knows it ("priority", "args.region").
    message: what is wrong, and what is allowed.
    index: which of several requests it is, from 0; None where that is not known, or there is but one.
    """

    def __init__(self, field: str, message: str, index: int | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.index = index


class TooLarge(InvalidRequest):
    """The arguments take more bytes than a job's may."""


class Undecided(RuntimeError):
    """Identical jobs of others were stored and ended all the while. What is identical to none of them may be stored.

    retry_after: seconds after which asking again makes sense.
    """

    retry_after = 1

    def __init__(self) -> None:
        super().__init__("identical jobs come and go too fast to say whether there is one; submit it again")


class TooManyWaiting(RuntimeError):
    """The tenant has so many jobs waiting that no more are taken. Nothing was stored.

    retry_after: seconds after which asking again makes sense.
    """

    retry_after = 10

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit:,} jobs may wait, and so many do; try again when some have run")
        self.limit = limit
