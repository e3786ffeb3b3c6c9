// Single keys: go to a page, walk through the rows, select, search, help. They can be switched off in the help.
(() => {
const help = document.getElementById("help");
const dialog = document.getElementById("keys");
const on = document.getElementById("keys-on");
const live = document.getElementById("live");
let going = false;
let row = -1;

function rows() {
  return [...document.querySelectorAll("table.rows tbody tr")];
}

function walk(step) {
  const all = rows();
  if (!all.length) return;
  all.forEach((one) => one.classList.remove("current"));
  row = Math.max(0, Math.min(all.length - 1, row + step));
  all[row].classList.add("current");
  const link = all[row].querySelector("th a, a");
  if (link) link.focus();
  all[row].scrollIntoView({ block: "nearest" });
}

function select() {
  const box = rows()[row]?.querySelector("input[type=checkbox]");
  if (box) box.click();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target.matches("input:not([type=checkbox]), select, textarea")) return;
  if (!on.checked) return;
  const key = event.key;
  if (going) {
    going = false;
    const link = document.querySelector(`nav a[data-key="${CSS.escape(key)}"]`);
    if (link) location.assign(link.href);
    return;
  }
  const does = {
    g: () => { going = true; },
    "/": () => document.querySelector("input[type=search]")?.focus(),
    j: () => walk(1),
    k: () => walk(-1),
    x: select,
    l: () => live?.click(),
    "?": () => dialog.showModal(),
  }[key];
  if (!does) return;
  event.preventDefault();
  does();
}

function count() {
  const shown = document.getElementById("selected");
  const number = document.querySelectorAll("input[name=ids]:checked").length;
  const all = document.querySelector("input[name=all]:checked");
  if (shown) shown.textContent = all ? "all matches" : number ? `${number} selected` : "";
}

try { on.checked = localStorage.getItem("ops.keys") !== "0"; } catch { on.checked = true; }
on.addEventListener("change", () => {
  try { localStorage.setItem("ops.keys", on.checked ? "1" : "0"); } catch { /* it lasts until the page is left */ }
});
help.hidden = false;
help.addEventListener("click", () => dialog.showModal());
document.addEventListener("keydown", press);
document.addEventListener("change", count);
count();
})();
