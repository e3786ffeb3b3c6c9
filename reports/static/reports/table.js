// A result, {columns, rows}, as a table. Values are set as text, never as HTML: they are a customer's data.

const NUMERIC = /^-?\d+(\.\d+)?$/; // the API sends a numeric as text, to keep every digit

export function table({ columns, rows }, caption) {
  if (!rows.length) return element("p", "The report found nothing.", "empty");
  const numeric = columns.map((_, i) => rows.every((row) => row[i] === null || NUMERIC.test(String(row[i]))));
  const found = document.createElement("table");
  found.createCaption().append(element("span", caption, "unseen"));
  const head = found.createTHead().insertRow();
  columns.forEach((name, i) => {
    const heading = element("th", name.replaceAll("_", " "), numeric[i] ? "number" : "");
    heading.scope = "col";
    head.append(heading);
  });
  const body = found.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((value, i) => line.append(cell(value, numeric[i])));
  }
  return found;
}

function cell(value, numeric) {
  if (value === null) return element("td", "–", "null");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return element("td", numeric ? separated(text) : text, numeric ? "number" : "");
}

// 100,000 and 1,291.63; a whole number of four digits may be a year.
function separated(text) {
  const [whole, fraction] = text.split(".");
  if (fraction === undefined && whole.replace("-", "").length < 5) return text;
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...(fraction === undefined ? [] : [fraction])].join(".");
}

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}
