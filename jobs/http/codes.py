"""The codes of problems. A program compares these; the detail of a problem is for people, and its words may change."""

from enum import StrEnum
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema


class ProblemCode(StrEnum):
    """A code tells what went wrong. `status` is the HTTP status of its problems, `meaning` a sentence for people."""

    status: int
    meaning: str

    def __new__(cls, value: str, status: int, meaning: str) -> "ProblemCode":
        code = str.__new__(cls, value)
        code._value_, code.status, code.meaning = value, status, meaning
        return code

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        meanings = (f"- `{code}` ({code.status}): {code.meaning}" for code in cls)
        return handler.resolve_ref_schema(handler(schema)) | {"description": "\n".join(meanings)}

    MALFORMED_REQUEST = "malformed_request", 400, "The request is not HTTP as this server takes it."
    TENANT_MOVED = "tenant_moved", 308, "Your tenant has moved: Location has the address there, with the same path."
    NOT_JSON = "not_json", 400, "The body is not JSON, or has a name twice in one object."
    UNKNOWN_KEY = "unknown_key", 401, "There is no key, or it is wrong, expired or revoked."
    NOT_A_MEMBER = "not_a_member", 403, "The session's user is no member of a tenant."
    NOT_AN_OPERATOR = "not_an_operator", 403, "The session's user is no operator."
    NO_PERMISSION = "no_permission", 403, "The operator lacks the permission that the detail names."
    NO_CSRF_TOKEN = "no_csrf_token", 403, "A session's request lacks the header X-CSRFToken."
    NO_SECOND_FACTOR = "no_second_factor", 403, "The session's second factor is missing."
    NOT_ALLOWED = "not_allowed", 403, "The server refuses the request for another reason."
    NOT_FOUND = "not_found", 404, "You have no such job, batch, schedule or other object."
    NO_SUCH_ADDRESS = "no_such_address", 404, "The API has no such address."
    WRONG_METHOD = "wrong_method", 405, "The address takes only the methods in the header Allow."
    BODY_TOO_SLOW = "body_too_slow", 408, "The body did not arrive in time."
    JOB_ENDED = "job_ended", 409, "The job has ended, and cannot be cancelled."
    JOB_NOT_REVIVABLE = "job_not_revivable", 409, "The job cannot be revived; the detail says why."
    JOB_NOT_RUNNING = "job_not_running", 409, "The job does not run."
    JOB_NOT_SUCCESSFUL = "job_not_successful", 409, "The job ended without success, so it has no result."
    BATCH_CLOSED = "batch_closed", 409, "The batch is closed."
    EVENT_CAME = "event_came", 409, "An event of this name has come already. Its payload stays."
    SCHEDULE_IN_CODE = "schedule_in_code", 409, "The operator's code declares the schedule, and only that changes it."
    RESULT_GONE = "result_gone", 410, "The job succeeded, but its result is not kept any more."
    TOO_LARGE = "too_large", 413, "The body, or the field that errors names, is too large."
    WRONG_CONTENT_TYPE = "wrong_content_type", 415, "The body must be plain application/json."
    INVALID_INPUT = "invalid_input", 422, "A field does not fit; errors names each, and what is allowed."
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused", 422, "The Idempotency-Key belongs to another request."
    TOO_MANY_REQUESTS = "too_many_requests", 429, "You send requests too fast."
    TOO_MANY_WAITS = "too_many_waits", 429, "Too many of your requests wait for a change: long polls and events."
    TOO_MANY_WRONG_KEYS = "too_many_wrong_keys", 429, "Your network address sent too many wrong keys."
    BACKLOG_FULL = "backlog_full", 429, "Your backlog of waiting jobs is full. Nothing was stored."
    HEADERS_TOO_LARGE = "headers_too_large", 431, "The cookies are too large."
    INTERNAL_ERROR = "internal_error", 500, "A fault of the server; it has been logged."
    SERVER_BUSY = "server_busy", 503, "Too many requests of all callers wait at this server."
    IDENTICAL_JOBS_BUSY = "identical_jobs_busy", 503, "Identical jobs start and end too fast. Nothing was stored."
    LOCKED = "locked", 503, "Another transaction changes the same data. Some of the request may be done."
    TENANT_MOVES = "tenant_moves", 503, "Your tenant moves to another installation. Nothing was changed."
    DATABASE_AWAY = "database_away", 503, "The database is away or read-only. Some of the request may be done."
