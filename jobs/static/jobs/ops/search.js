// Offers below a field: words for the search of jobs, or places to go to, in the palette (Ctrl K). A field names the
// address that it asks (data-offers), and the list that it fills (data-list).
(() => {
const WAIT = 120; // milliseconds without a key, until a field asks

function dress(field) {
  const list = document.getElementById(field.dataset.list);
  const goes = list.dataset.goes !== undefined; // an offer is a place
  let at = -1;
  let timer = 0;
  let asked = null;

  const options = () => [...list.children];

  function mark(to) {
    at = to;
    options().forEach((one, n) => one.setAttribute("aria-selected", String(n === at)));
    const marked = options()[at];
    if (marked) field.setAttribute("aria-activedescendant", marked.id);
    else field.removeAttribute("aria-activedescendant");
    marked?.scrollIntoView({ block: "nearest" });
  }

  function show(offers) {
    list.replaceChildren(...offers.map(({ text, note, address }, n) => {
      const option = document.createElement("li");
      const small = document.createElement("small");
      option.id = `${list.id}-${n}`;
      option.setAttribute("role", "option");
      option.dataset.text = text;
      option.dataset.address = address ?? "";
      small.textContent = note;
      option.append(text, small);
      return option;
    }));
    list.hidden = offers.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    mark(goes && offers.length ? 0 : -1);
  }

  // The word under the caret. What is in quotes is no word of ours.
  function word() {
    const caret = field.selectionStart;
    const from = field.value.lastIndexOf(" ", caret - 1) + 1;
    const space = field.value.indexOf(" ", caret);
    return [from, space < 0 ? field.value.length : space];
  }

  async function ask() {
    const typed = goes ? field.value.trim() : field.value.slice(...word());
    if (!goes && !typed) return show([]);
    asked = typed;
    try {
      const response = await fetch(`${field.dataset.offers}?q=${encodeURIComponent(typed)}`, { redirect: "error" });
      const { offers } = await response.json();
      if (asked === typed) show(offers.filter(({ text }) => goes || text !== typed));
    } catch { show([]); }
  }

  function choose(option) {
    if (goes) return location.assign(option.dataset.address);
    const [from, to] = word();
    const text = option.dataset.text + (option.dataset.text.endsWith(":") ? "" : " ");
    field.setRangeText(text, from, Math.min(to + (text.endsWith(" ") ? 1 : 0), field.value.length), "end");
    show([]);
    field.focus();
    if (text.endsWith(":")) ask();
  }

  list.setAttribute("role", "listbox");
  for (const [name, value] of [["role", "combobox"], ["aria-controls", list.id], ["aria-expanded", "false"], ["aria-autocomplete", "list"]]) field.setAttribute(name, value);
  field.addEventListener("input", () => { clearTimeout(timer); asked = null; timer = setTimeout(ask, WAIT); });
  field.addEventListener("blur", () => { if (!goes) setTimeout(() => show([]), WAIT); });
  field.addEventListener("keydown", (event) => {
    const all = options();
    if (list.hidden || !all.length) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark((at + step + all.length) % all.length);
    else if (event.key === "Enter" && at >= 0) choose(all[at]);
    else if (event.key === "Escape" && !goes) show([]);
    else return;
    event.preventDefault();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => { const one = event.target.closest("li"); if (one) choose(one); });
  return ask;
}

const palette = document.getElementById("palette");
const above = document.querySelector(".search input");
if (above && matchMedia("(hover: hover)").matches) above.placeholder = "Find (Ctrl K)";
for (const field of document.querySelectorAll("[data-offers]")) {
  const ask = dress(field);
  if (palette?.contains(field)) document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (palette.open) return palette.close();
    palette.showModal();
    field.select();
    ask();
  });
}
})();
