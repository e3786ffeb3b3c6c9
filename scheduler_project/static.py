"""Static files under names that hold their content's digest: an upgrade shows no page with the scripts of before."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Versioned(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise is untyped
    """Also the modules that our scripts import."""

    support_js_module_import_aggregation = True
