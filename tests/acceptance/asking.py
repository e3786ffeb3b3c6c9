"""A program that asks the API of a web process."""

import json
import urllib.error
import urllib.request


def ask(url: str, token: str = "", body: object = None) -> tuple[int, str]:
    """The status and the text of the answer. body: to POST as JSON."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
