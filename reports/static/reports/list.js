// While a run is under way, load the page again every five seconds, and show what changed in its list.
async function refresh() {
  if (document.hidden || document.querySelector(".reports :focus")) return;
  const response = await fetch(location.href);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const came = page.querySelector(".reports");
  const shown = document.querySelector(".reports");
  if (came && shown && came.innerHTML !== shown.innerHTML) shown.replaceWith(came);
  if (!page.querySelector("[data-under-way]")) clearInterval(timer);
}

const timer = setInterval(() => refresh().catch(() => {}), 5000);
