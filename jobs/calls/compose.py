"""Compose requests: from a method and its options, or from the names in an HTTP request."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from django.db import models

from jobs.authoring.current import caller
from jobs.authoring.decorator import CALLS
from jobs.calls import functions, permit, registry, sources
from jobs.calls.arguments import as_json, digest
from jobs.calls.owners import path_of
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target
from jobs.calls.request import GATHER, JOIN, JobRequest
from plumbing.bounds import LARGEST_ID, is_whole
from tenants.mirror import NotMirrored, tenant_of
from tenants.models import Tenant


class Numbered(Protocol):
    @property
    def id(self) -> int: ...


JobIds = int | Numbered | Iterable[int | Numbered]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def compose_by_name(
    tenant: Tenant,
    *,
    source_type: str,
    source_id: Any,
    source_method: str,
    args: Any,
    by_tenant: bool = False,
    find: sources.Find = sources.find_in_sight,
    **options: Any,
) -> JobRequest:
    """Check a request from outside: only @job methods, only the tenant's own objects.

    by_tenant: the tenant asks, not an operator, so its permissions apply.
    find: the function that finds the object; another one if the objects of many calls were loaded together.
    options: those of `compose`.

    Raises InvalidRequest. Another tenant's object and a missing one give the same error.
    """
    target = registry.resolve(source_type, source_method, http=by_tenant)
    if by_tenant:
        permit.check(target, tenant, options)
    if not isinstance(args, dict):
        raise InvalidRequest("args", "must be a JSON object: the arguments by name")
    instance = None
    if target.class_level:
        if source_id is not None:
            raise InvalidRequest("source_id", f"{source_method} does not run on an object; leave source_id out")
    elif source_id is None:
        raise InvalidRequest("source_id", f"{source_method} runs on one object; give its id")
    else:
        instance = find(target, source_id, tenant.pk)
        if instance is None:
            raise InvalidRequest("source_id", f"there is no {source_type} {source_id!r}")
    return compose(target, instance, target.bind((), args), tenant=tenant, **options)


def compose(target: Target, instance: models.Model | None, args: dict[str, Any], **options: Any) -> JobRequest:
    """Check a request made of bound arguments and options; @job supplies the missing options.

    Raises InvalidRequest.
    """
    return next(compose_each(target, instance, [args], **options))


def compose_each(
    target: Target,
    instance: models.Model | None,
    calls: Iterable[dict[str, Any]],
    *,
    dedup: bool | None = None,
    identical: str | None = None,
    sequence: str | int | uuid.UUID | None = None,
    **options: Any,
) -> Iterator[JobRequest]:
    """Compose a request for each call's arguments; check their common options once.

    sequence: overrides the one that @job gives for the arguments.
    """
    keyed = target.spec.dedup if dedup is None else dedup
    if identical not in (None, JOIN) and not keyed:
        raise InvalidRequest("identical", "nothing is identical to a job without dedup; give one of the two")
    if not keyed:
        identical = JOIN
    common = _options(target, instance, identical=identical or target.spec.identical, **options)
    for args in calls:
        name = _sequence(target, args) if sequence is None else as_name(sequence)
        if name is not None and dedup:
            raise InvalidRequest("dedup", "each call of a sequence is a job; give either sequence, or dedup")
        key = _identity(target, common, args) if keyed and name is None else None
        yield common.calling(args, key, name)


def _options(
    target: Target,
    instance: models.Model | None,
    *,
    tenant: Tenant | None = None,
    delay: float | timedelta | None = None,
    at: datetime | None = None,
    user: Any = None,
    queue: str | None = None,
    priority: int | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    identical: str = JOIN,
    expires: float | timedelta | datetime | None = None,
    after: JobIds = (),
    after_end: JobIds = (),
    after_patience: float | timedelta | None = None,
) -> JobRequest:
    spec = target.spec
    if identical == GATHER:
        delay = target.within(delay=delay, at=at, expires=expires)
    if target.model is None:
        functions.check_can_be_imported(target.source_type)
    if expires is None:
        expires = spec.expires
    if target.class_level:
        instance = None
    if not target.class_level:
        if instance is None or instance._state.adding or instance.pk is None:
            raise InvalidRequest("source_id", f"{target.method} runs on one object, which must be saved first")
        sources.check_place("source_id", instance)
    return JobRequest(
        tenant_id=_tenant_id(target, instance, tenant),
        source_type=target.source_type,
        source_id=None if instance is None else sources.key_text(instance),
        source_method=target.method,
        args={},
        queue=spec.queue if queue is None else queue,
        priority=spec.priority if priority is None else priority,
        user_key=user_key(user),
        delay=_seconds(delay),
        at=at,
        expires=None if isinstance(expires, datetime) else _seconds(expires),
        expires_at=expires if isinstance(expires, datetime) else None,
        timeout=spec.timeout if timeout is None else timeout,
        memory=spec.memory,
        max_retries=max_retries,
        identical=identical,
        most_calls=spec.most_calls if identical == GATHER else None,
        after=_ids("after", after),
        after_end=_ids("after_end", after_end),
        after_patience=_seconds(after_patience),
        sequence_stops=spec.sequence_stops,
        spends=tuple(sorted(set(spec.units))),
        is_async=target.is_async,
    )


def _seconds(time: float | timedelta | None) -> float | None:
    return time.total_seconds() if isinstance(time, timedelta) else time


def _ids(field: str, jobs: JobIds) -> tuple[int, ...]:
    several = jobs if isinstance(jobs, Iterable) else (jobs,)
    ids: tuple[Any, ...] = tuple(getattr(job, "id", job) for job in several)
    if not all(is_whole(job, 1, LARGEST_ID) for job in ids):
        raise InvalidRequest(field, "must be the id of a job, a batch, or several")
    return ids


def user_key(user: Any) -> str:
    """Return the key of a user: the primary key of a Django user; empty for an anonymous user or None.

    Raises InvalidRequest for an object that is no user: two such objects may have the same text.
    """
    key = getattr(user, "pk", user)
    if key is user and not isinstance(key, str | int | uuid.UUID | None):
        raise InvalidRequest("user", f"must be a user, or its key as text or a number, not {type(key).__name__}")
    return "" if key is None else str(key)


def _identity(target: Target, common: JobRequest, args: dict[str, Any]) -> uuid.UUID:
    """Return the identity of a job: its call and its moment. A job for tomorrow does not answer a request for today.

    If the newest call wins, the moment does not count: it replaces jobs that are due at any time. Nor does it if calls
    are gathered, and their lists may differ.
    """
    told = {name: args[name] for name in args.keys() - {CALLS}} if common.identical == GATHER else args
    same = _identical_key(target, args) if target.spec.dedup_key else target.signature.complete_json(told)
    moment: str | float = GATHER if common.identical == GATHER else 0.0
    if common.identical == JOIN:
        moment = str(common.at - EPOCH) if common.at else float(common.delay or 0)
    key = digest(common.source_type, common.source_id, common.source_method, moment, same)
    whatever = sorted({*common.after_end} - {*common.after})
    return key if not common.predecessors else uuid.uuid5(key, f"after {common.predecessors}{whatever or ''}")


def _sequence(target: Target, args: dict[str, Any]) -> Any:
    """Return the name that the method's own `sequence` gives this call, unchecked. Raises InvalidRequest."""
    function = target.spec.sequence
    return None if function is None else as_name(_asked("sequence", function, target, args))


def as_name(name: Any) -> Any:
    """Return the name of a sequence as text; what cannot be one stays as it is, and is refused later."""
    return str(name) if is_whole(name) or isinstance(name, uuid.UUID) else name


def _identical_key(target: Target, args: dict[str, Any]) -> Any:
    """Return what the method's own `dedup_key` returns for the call, as JSON.

    Another value than JSON might be equal for several calls. Raises InvalidRequest, also if `dedup_key` fails. Tenants
    may read that message, so it has only the class of the error; the exception's cause has the rest.
    """
    assert target.spec.dedup_key is not None  # noqa: S101 - for the type checker
    return as_json(_asked("dedup_key", target.spec.dedup_key, target, args), "dedup_key")


def _asked(option: str, function: Callable[..., Any], target: Target, args: dict[str, Any]) -> Any:
    """Return what this function of @job returns for the arguments."""
    try:
        return function(**target.signature.complete(args))
    except Exception as error:
        why = f"the {option} of {target.method} cannot take these: {type(error).__name__}"
        raise InvalidRequest("args", why) from error


def _tenant_id(target: Target, instance: models.Model | None, tenant: Tenant | None) -> int:
    """Return the owner: the object's tenant. For a job without an object: the given tenant, or the running job's."""
    if tenant is not None:
        if isinstance(tenant, models.Model):
            sources.check_place("tenant", tenant)
        try:
            tenant = tenant_of(tenant)
        except NotMirrored as error:
            raise InvalidRequest("tenant", str(error)) from None
    if instance is not None:
        path = path_of(target.model or type(instance))  # the same path as in the worker: a proxy may have another
        owner = path.tenant_id(instance)
        if owner is None:
            remedy = "; run: manage.py tenants mirror" if path.mirrored else ""
            raise InvalidRequest("tenant", f"{instance!r} has none{remedy}")
        if tenant is not None and tenant.pk != owner:
            raise InvalidRequest("tenant", "is not the owner of this object")
        return owner
    owner_tenant = tenant or caller().tenant
    if owner_tenant is None:
        raise InvalidRequest("tenant", f"{target.method} has no object; name the owner: async_(tenant=...)")
    return owner_tenant.pk
