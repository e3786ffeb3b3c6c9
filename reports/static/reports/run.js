// Run a report and follow it to its end, by the events of the job or, where no stream comes through, by long polls.

import { get, post, Problem } from "./api.js";
import { table } from "./table.js";

const FINAL = new Set(["success", "error", "dead", "cancelled"]);
const WORDS = JSON.parse(document.getElementById("words").textContent);
const TICK = 100; // milliseconds between two updates of the shown times
const ASK_WHY = 2000; // milliseconds between two requests for the reason why a job waits
const TOO_MANY = 429;
const LOST = "Connection lost, trying again …";
const FULL = "So much of your team's work is waiting that no more fits in right now. Please try again in a moment.";

const form = document.getElementById("run");
const parts = Object.fromEntries(
  ["outcome", "status", "note", "times", "progress", "why", "verbs", "cancel", "job", "hint", "failure", "said", "result"].map((id) => [id, document.getElementById(id)]),
);
const membersPage = parts.job.getAttribute("href");
const isWaiting = (job) => ["created", "scheduled", "blocked"].includes(job.status);
const jobUrl = (id) => `${form.dataset.jobsUrl}/${id}`;
let following = new AbortController();
let shown = null; // { job, at }: the last state of the job, and when it came

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const job = await post(form.dataset.jobsUrl, request(), form.elements.csrfmiddlewaretoken.value);
    // A reload, or a colleague given the address, picks up this very run.
    history.replaceState(null, "", `?job=${job.id}`);
    const same = job.deduplicated && shown?.job.id === job.id;
    hint(job.deduplicated ? "This report is already on its way; you are following that run." : "");
    if (!same) await follow(job);
  } catch (error) {
    fail(error.status === TOO_MANY ? new Error(FULL) : error);
  }
});

parts.cancel.addEventListener("click", () => {
  post(`${jobUrl(shown.job.id)}/cancel`, undefined, form.elements.csrfmiddlewaretoken.value).then(show, fail);
});

form.querySelector("button").disabled = false;
if (form.dataset.job) get(jobUrl(form.dataset.job)).then(follow).catch(fail);

function request() {
  const inputs = [...form.querySelectorAll("[data-kind]")];
  const parameters = Object.fromEntries(inputs.map((input) => [input.name, value(input)]));
  return { source_type: "reports.datareport", source_id: form.dataset.report, source_method: "execute", args: { parameters } };
}

function value(input) {
  if (input.type === "checkbox") return input.checked;
  if (input.dataset.kind === "checkbox") return input.value === "True";
  return input.dataset.kind === "number" ? Number(input.value) : input.value;
}

async function follow(job) {
  following.abort(); // a run that was followed before
  following = new AbortController();
  const { signal } = following;
  parts.result.hidden = true;
  try {
    show(job);
    if (!FINAL.has(job.status)) job = await listen(job, signal);
    while (!FINAL.has(job.status)) {
      // The long poll answers when the status has changed. While the job runs, ask each second: its progress changes.
      const wait = job.status === "running" ? 1 : 20;
      const { id, status } = job;
      job = await persistently(() => get(`${jobUrl(id)}?wait=${wait}&seen=${status}`, signal), signal);
      show(job);
    }
    if (job.status === "success") await showResult(job, signal);
  } catch (error) {
    if (!signal.aborted) fail(error);
  }
}

// Return the job when its stream has ended or is closed for good. In the second case the job is not final, and the page
// goes on with long polls. If a stream only breaks off, the browser connects again by itself.
function listen(job, signal) {
  return new Promise((resolve) => {
    if (!window.EventSource) return resolve(job);
    const source = new EventSource(`${jobUrl(job.id)}/events`);
    const finish = () => { source.close(); resolve(job); };
    const hear = (name, told) => source.addEventListener(name, ({ data }) => told({ ...job, ...JSON.parse(data) }));
    signal.addEventListener("abort", finish);
    source.addEventListener("open", () => show(job, shown.at)); // clears the note LOST
    hear("status", (now) => show(job = now));
    hear("progress", (now) => show(job = now, shown.at)); // the times on the page stay those of the last status
    hear("end", (now) => { show(job = now); finish(); });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) finish();
      else parts.note.textContent = LOST;
    });
  });
}

// Ask again after a lost connection: the server may restart, or the reader's train may be in a tunnel.
async function persistently(ask, signal) {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      return await ask();
    } catch (error) {
      const final = error instanceof Problem && error.status < 500 && error.status !== TOO_MANY;
      if (signal.aborted || final) throw error;
      parts.note.textContent = LOST;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function show(job, at = performance.now()) {
  const changed = shown?.job.id !== job.id || shown.job.status !== job.status;
  shown = { job, at };
  parts.outcome.hidden = false;
  parts.failure.hidden = true;
  parts.status.dataset.status = job.status;
  parts.status.textContent = WORDS[job.status];
  const records = job.stats.records;
  parts.note.textContent = job.status === "success" && records !== undefined ? count(records) : job.progress_note;
  parts.progress.hidden = parts.verbs.hidden = FINAL.has(job.status);
  parts.job.textContent = `Job ${job.id}`;
  parts.job.href = `${membersPage}${job.id}/`;
  if (!isWaiting(job)) parts.why.hidden = true;
  if (job.status === "running" && job.progress !== null) parts.progress.value = job.progress;
  else parts.progress.removeAttribute("value");
  if (changed) parts.said.textContent = `${WORDS[job.status]}. ${parts.note.textContent}`;
  if (FINAL.has(job.status)) hint("");
  if (["error", "dead"].includes(job.status)) fail(new Error(reason(job)));
  tick();
}

async function showResult(job, signal) {
  if (!job.result_url) return hint("The result of this run has expired. Run the report again to see it.");
  const result = await get(job.result_url, signal);
  parts.result.replaceChildren(table(result, document.title));
  parts.result.hidden = false;
}

function tick() {
  if (!shown) return;
  const { job, at } = shown;
  const since = FINAL.has(job.status) ? 0 : (performance.now() - at) / 1000;
  const waited = job.wait_seconds + (job.start_time ? 0 : since);
  const times = [`waited ${seconds(waited)}`];
  if (job.start_time) times.push(`ran ${seconds(job.run_seconds + since)}`);
  parts.times.textContent = times.join(" · ");
}
setInterval(tick, TICK);

// The reason of a wait changes without an event, so the page asks for it while the job waits.
async function tellWhy() {
  const job = shown?.job;
  if (!job || !isWaiting(job) || document.hidden) return;
  const why = await get(`${jobUrl(job.id)}/reason`).catch(() => null);
  if (!why || shown.job.id !== job.id || !isWaiting(shown.job)) return;
  parts.why.textContent = why.place > 1 ? `${why.sentence} Number ${why.place} in line.` : why.sentence;
  parts.why.hidden = false;
}
setInterval(tellWhy, ASK_WHY);

function fail(error) {
  parts.outcome.hidden = false;
  parts.failure.textContent = error.message;
  parts.failure.hidden = false;
}

function hint(text) {
  parts.hint.textContent = text;
  parts.hint.hidden = !text;
}

// "ReportFailed: The database ...": leave out the class. A class alone: only operators may read the text.
const reason = (job) =>
  job.last_error.includes(": ") ? job.last_error.replace(/^[A-Z]\w*: /, "") : "Something went wrong. The operators can see what.";
const count = (records) => (records === 1 ? "1 row" : `${records.toLocaleString("en-GB")} rows`);
const seconds = (number) => `${number.toFixed(number < 10 ? 1 : 0)} s`;
