"""Static files with the digest of their content in the name, so that no page uses old scripts after an upgrade."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise is untyped
    """Whitenoise's storage, which also renames the modules that our scripts import."""

    support_js_module_import_aggregation = True
