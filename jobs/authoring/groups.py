"""Groups of exceptions: what tasks in an `asyncio.TaskGroup` raise, even if only one of them fails."""


def leaves(error: BaseException) -> list[BaseException]:
    """The errors in a group, in their order, and in the groups in it; any other error itself."""
    found, left = [], [error]
    while left:
        one = left.pop()
        if isinstance(one, BaseExceptionGroup):
            left += reversed(BaseExceptionGroup.exceptions.__get__(one))  # a class derived from it may say anything
        else:
            found.append(one)
    return found


def means(error: BaseException, kind: type[BaseException]) -> bool:
    """Whether it is of this class, or a group of errors that all are."""
    return all(isinstance(one, kind) for one in leaves(error))
