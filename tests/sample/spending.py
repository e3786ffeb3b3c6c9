"""Jobs that spend units."""

from jobs import current_job, job


@job(units=("tokens",), dedup=False, http=True)
async def ask(tokens: int = 1) -> int:
    current_job().used(tokens=tokens)
    return tokens
