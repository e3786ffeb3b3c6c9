// The API of jobs, with the page's session. An answer that is a problem document becomes a Problem.

export class Problem extends Error {
  constructor(status, document) {
    const fields = (document.errors ?? []).map(({ field, message }) => `${field}: ${message}`);
    super(fields.join("; ") || document.detail || document.title || `The server answered ${status}.`);
    this.status = status;
  }
}

export async function get(url, signal) {
  return answer(await fetch(url, { headers: { Accept: "application/json" }, signal }));
}

export async function post(url, body, csrfToken) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken };
  return answer(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

const STALE = { detail: "You were logged out, or this page is old. Please load it again." };

async function answer(response) {
  if ([401, 403].includes(response.status)) throw new Problem(response.status, STALE);
  const document = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, document);
  return document;
}
