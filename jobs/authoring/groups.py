"""Take groups of exceptions apart. An `asyncio.TaskGroup` raises a group even if only one of its tasks fails."""


def leaves(error: BaseException) -> list[BaseException]:
    """Return the errors in a group and in its nested groups, in order; for any other error that error alone."""
    found, left = [], [error]
    while left:
        one = left.pop()
        if isinstance(one, BaseExceptionGroup):
            left += reversed(BaseExceptionGroup.exceptions.__get__(one))  # a derived class may override it
        else:
            found.append(one)
    return found


def means(error: BaseException, kind: type[BaseException]) -> bool:
    """Return whether the error is of this class, or a group whose errors all are."""
    return all(isinstance(one, kind) for one in leaves(error))
