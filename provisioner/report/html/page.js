"use strict";

// Dark or light: as the system has it, until the button says otherwise. Paper is light.
const root = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const setTheme = (isDark) => { root.dataset.theme = isDark ? "dark" : "light"; };
setTheme(system.matches);
system.addEventListener("change", (event) => setTheme(event.matches));
document.getElementById("theme").addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));
let before = root.dataset.theme;
window.addEventListener("beforeprint", () => { before = root.dataset.theme; setTheme(false); });
window.addEventListener("afterprint", () => setTheme(before === "dark"));

// Sorting: a heading's button sorts by its column, and the other way round when pressed again.
const keyOf = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
};
const compare = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, undefined, { numeric: true });
};
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const isDown = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const body = head.closest("table").tBodies[0];
    const rows = [...body.rows].map((row) => [keyOf(row, head.cellIndex), row]);
    rows.sort(([a], [b]) => (isDown ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
  });
}

// Keys: arrows go to the nearest mark in that direction, and it is read out.
const MARKS = "[role=graphics-symbol][aria-label]:not([aria-roledescription=axis], [aria-roledescription=legend])";
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const middle = (mark) => {
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
};
const next = (marks, from, [right, down]) => {
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const mark of marks) {
    const [dx, dy] = middle(mark).map((place, side) => place - (side ? y : x));
    const along = dx * right + dy * down;
    const aside = Math.abs(dx * down) + Math.abs(dy * right);
    if (mark !== from && along > 0.5 && along + 3 * aside < least) [best, least] = [mark, along + 3 * aside];
  }
  return best;
};
const steer = (chart) => {
  const readout = chart.closest("figure").querySelector("output");
  let current = null;
  chart.addEventListener("keydown", (event) => {
    const direction = DIRECTIONS[event.key];
    if (!direction || event.target.closest("select")) return;
    const marks = [...chart.querySelectorAll(MARKS)];
    if (!marks.length) return;
    event.preventDefault();
    current = marks.includes(current) ? next(marks, current, direction) ?? current : marks[0];
    for (const mark of marks) mark.removeAttribute("tabindex");
    current.setAttribute("tabindex", "-1");
    current.focus();
    readout.textContent = current.getAttribute("aria-label");
  });
};

// Charts. The interpreter keeps Vega from making code of texts, which the page's policy forbids.
// One after the other, so that the page can be read and scrolled meanwhile.
const options = { actions: false, mode: "vega-lite", renderer: "svg", ast: true, tooltip: { theme: "custom" } };
const draw = async (specs) => {
  for (const [name, spec] of Object.entries(specs)) {
    await window.vegaEmbed(`#${name}`, spec, options);
    steer(document.getElementById(name));
    await new Promise((resume) => { setTimeout(resume); });
  }
  root.dataset.ready = "yes";
};
draw(JSON.parse(document.getElementById("charts").textContent));
