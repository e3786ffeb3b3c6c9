// Keep a page live: ask for its address (data-ask, or its own) with the versions that are shown, and merge what changed.
(() => {
const live = document.querySelector("[data-every]");
const every = Number(live?.dataset.every ?? 0) * 1000;
const button = document.getElementById("live");
const away = document.getElementById("away");
const LONGEST = 30000;
const A_CLICK = 3000;
// Where a project requires trusted types: what a page of ours answered is one.
const trusted = window.trustedTypes?.createPolicy("jobs", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
let paused = remembered("ops.paused") === "1";
let wait = every;
let timer = 0;
let asking = false;
let last = new Date();

function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function remember(name, value) {
  try { localStorage.setItem(name, value); } catch { /* it lasts until the page is left */ }
}

function busy() {
  const focused = document.activeElement;
  return document.hidden || paused || document.querySelector(":is(input[name=ids], input[name=all]):checked") !== null
    || document.querySelector("[data-region] .do:hover") !== null // a row must not move away under the pointer
    || (focused !== null && focused.matches("[data-region] :is(input, select, textarea)"));
}

function regions() {
  return [...document.querySelectorAll("[data-region]")];
}

async function ask() {
  if (asking) return;
  asking = true;
  try {
    const versions = regions().map((region) => `${region.dataset.region}=${region.dataset.v}`);
    const known = [`whose=${live.dataset.whose}`, ...versions].join(" ");
    const response = await fetch(live.dataset.ask ?? location.href, { headers: { Live: known }, redirect: "manual", cache: "no-store" });
    if (response.type === "opaqueredirect" || response.status === 403 || response.status === 404) return location.reload();
    if (!response.ok) throw new Error(String(response.status));
    if (response.status === 200 && !busy()) merge(await response.text());
    last = new Date();
    away.hidden = true;
    wait = every;
  } catch {
    wait = Math.min(Math.max(wait * 2, 4000), LONGEST);
    away.textContent = `No answer since ${last.toISOString().slice(11, 19)}: this page shows the state of that time.`;
    away.hidden = false;
  } finally {
    asking = false;
  }
}

function merge(html) {
  const came = new DOMParser().parseFromString(trusted.createHTML(html), "text/html");
  for (const region of came.querySelectorAll("[data-region]")) {
    const shown = document.getElementById(region.id);
    if (!shown) continue;
    window.Idiomorph.morph(shown, region, {
      ignoreActiveValue: true,
      restoreFocus: true,
      callbacks: {
        beforeAttributeUpdated: (name, node) => !(name === "open" && node.matches("details")),
      },
    });
    local(shown);
  }
  document.dispatchEvent(new Event("merged"));
}

async function turn() {
  clearTimeout(timer);
  if (!busy()) await ask();
  timer = setTimeout(turn, wait);
}

function toggle() {
  paused = !paused;
  remember("ops.paused", paused ? "1" : "0");
  show();
  turn();
}

function show() {
  button.hidden = false;
  button.textContent = paused ? "paused" : "live";
  button.setAttribute("aria-pressed", String(!paused));
}

function local(within) {
  for (const time of within.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    time.title = at.toLocaleString();
    if (at.getTimezoneOffset()) time.dataset.local = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
}

local(document);
if (every && button) {
  button.addEventListener("click", toggle);
  document.addEventListener("visibilitychange", () => document.hidden || turn());
  show();
  timer = setTimeout(turn, every);
}

// A second click on a button does nothing while the first is on its way.
const sent = new Set();
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (sent.has(form)) return event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), A_CLICK);
});

const goesOn = document.querySelector(".goes-on");
if (goesOn) {
  const next = setTimeout(() => goesOn.requestSubmit(), 400);
  document.getElementById("stop").addEventListener("click", () => clearTimeout(next));
}
})();
