"""The packages of the extras in pyproject.toml, and one error that names the extra if they are missing."""

from importlib.util import find_spec

PACKAGES = {
    "api": ("ninja",),
    "metrics": ("prometheus_client",),
    "redis": ("redis", "packaging"),  # the second is for the broker alone
    "tasks": ("django_tasks",),
}


def missing(extra: str) -> list[str]:
    """Return the packages of the extra that cannot be imported. Imports none."""
    return [package for package in PACKAGES[extra] if not is_there(package)]


def is_there(module: str) -> bool:
    """Return whether a module can be imported. Imports only the packages above it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def remedy(extra: str) -> str:
    return f'Install the extra: pip install "multi-tenant-job-scheduler[{extra}]"'


def require(extra: str, module: str) -> None:
    """Raise ImportError if that module of ours lacks a package of the extra."""
    if without := missing(extra):
        raise ImportError(f"{module} needs {' and '.join(without)}. {remedy(extra)}")
