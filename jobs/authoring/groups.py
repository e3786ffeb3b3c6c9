"""Take groups of exceptions apart. An `asyncio.TaskGroup` raises a group even if only one of its tasks fails."""


def leaves(error: BaseException) -> list[BaseException]:
    """Return the errors in a group and in its nested groups, in order; for any other error that error alone."""
    errors, left = [], [error]
    while left:
        next_error = left.pop()
        if isinstance(next_error, BaseExceptionGroup):
            left += reversed(BaseExceptionGroup.exceptions.__get__(next_error))  # a derived class may override it
        else:
            errors.append(next_error)
    return errors


def means(error: BaseException, kind: type[BaseException]) -> bool:
    """Return whether the error is of this class, or a group whose errors all are."""
    return all(isinstance(leaf, kind) for leaf in leaves(error))
