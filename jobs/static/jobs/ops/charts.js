// A crosshair through all charts. A click or Enter searches the jobs of that time.
(() => {
let at = null;
let touched = null;

function show(n) {
  at = n;
  for (const plot of document.querySelectorAll(".plot")) {
    const chart = plot.querySelector(".chart");
    let cross = chart.querySelector(".cross");
    if (!cross) {
      cross = document.createElementNS("http://www.w3.org/2000/svg", "path");
      cross.classList.add("cross");
      chart.append(cross);
    }
    cross.setAttribute("d", n === null ? "" : `M${((n + 0.5) / plot.dataset.steps) * 600} 0v100`);
    const said = chart.querySelector(`[data-n="${n}"] title`)?.textContent ?? "nothing ended";
    const marks = plot.querySelector(".marks");
    const mark = marks?.querySelector(`[data-n="${n - (n % marks.dataset.each)}"] title`)?.textContent;
    plot.querySelector(".told").textContent = n === null ? "" : said + (mark ? ` · ${mark}` : "");
  }
}

function step(event, plot) {
  const { left, width } = plot.querySelector(".chart").getBoundingClientRect();
  const { steps } = plot.dataset;
  return Math.max(0, Math.min(steps - 1, Math.floor(((event.clientX - left) / width) * steps)));
}

function open(n) {
  const link = document.querySelector(`.chart a[data-n="${n}"]`);
  if (link) location.assign(link.getAttribute("href"));
}

function dress() {
  for (const chart of document.querySelectorAll(".chart")) chart.setAttribute("tabindex", "0");
  if (at !== null) show(at);
}

function over(event) {
  const plot = event.target.closest(".plot");
  if (plot) show(step(event, plot));
  else if (at !== null && !document.activeElement.matches(".chart")) show(null);
}

document.addEventListener("pointermove", over);
document.addEventListener("click", (event) => {
  const plot = event.target.closest(".plot");
  if (!plot) return;
  const n = step(event, plot);
  event.preventDefault();
  if (event.pointerType === "touch" && touched !== n) {
    touched = n;
    show(n);
  } else open(n);
});
document.addEventListener("keydown", (event) => {
  if (!event.target.matches(".chart")) return;
  const last = event.target.parentNode.dataset.steps - 1;
  const to = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key];
  if (event.key === "Enter" && at !== null) open(at);
  if (event.key === "Escape") show(null);
  if (to === undefined) return;
  event.preventDefault();
  show(Math.max(0, Math.min(last, to)));
});
document.addEventListener("merged", dress);
dress();
})();
