"use strict";
// Text goes into the page by textContent alone: names of features are data.
const contents = JSON.parse(document.getElementById("contents").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const paper = window.matchMedia("print");
const views = {};
const MOST_LOST = 12; // names

function theme(isDark) {
  const ink = isDark ? "#ececf0" : "#1d1d1f", soft = isDark ? "#4a4a52" : "#dddde2";
  const axis = { labelColor: ink, titleColor: ink, gridColor: soft, domainColor: soft, tickColor: soft, titleFontWeight: 500, labelFontSize: 11, titleFontSize: 12 };
  return { background: "transparent", font: "system-ui, sans-serif", axis, legend: { labelColor: ink, titleColor: ink }, text: { color: ink }, view: { stroke: null } };
}

async function drawAll(isDark) {
  for (const [name, spec] of Object.entries(contents.charts)) {
    const place = document.getElementById("chart-" + name);
    if (!place) continue;
    const actions = { export: { svg: true, png: true }, source: false, compiled: false, editor: false };
    const options = { renderer: "svg", ast: true, actions, config: theme(isDark), theme: isDark ? "dark" : undefined, tooltip: { theme: isDark ? "dark" : "light" }, downloadFileName: name };
    if (views[name]) views[name].finalize();
    const result = await vegaEmbed(place, spec, options);
    views[name] = result.view;
    tipNames(place);
    sizes.observe(place.querySelector("svg.marks"));
    if (name === "tradeoff" || name === "price") {
      result.view.signal("at", Number(slider.value)).signal("dark", isDark);
      await result.view.runAsync();
      result.view.addEventListener("click", (_, item) => {
        if (item && item.datum && Number.isInteger(item.datum.i)) { slider.value = item.datum.i; show(); }
      });
    }
  }
  hintAll();
  document.documentElement.dataset.ready = "yes";
}

const slider = document.getElementById("at");
const said = document.getElementById("said");
const body = document.querySelector("#listed tbody");

function cell(tag, text, kind) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// A name of which the middle may be cut; a pointer over it shows the whole, and so does a click.
function named(name) {
  const letters = Array.from(name), at = letters.length - 9;
  if (letters.length <= 24) return name;
  const made = cell("span", "", "name");
  made.title = name;
  made.append(cell("span", letters.slice(0, at).join("")), letters.slice(at).join(""));
  return made;
}

// Names at axes that were cut: the whole as a tip.
function tipNames(place) {
  for (const label of place.querySelectorAll(".role-axis-label text")) {
    if (!Object.hasOwn(contents.cut, label.textContent)) continue;
    const tip = document.createElementNS("http://www.w3.org/2000/svg", "title");
    tip.textContent = contents.cut[label.textContent];
    label.append(tip);
    label.style.pointerEvents = "all";
  }
}

// What is wider than its place says so, and fades where it goes on.
function hint(box) {
  const wide = box.scrollWidth > box.clientWidth + 2, high = box.scrollHeight > box.clientHeight + 2;
  box.classList.toggle("right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  box.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
  box.previousElementSibling.hidden = !wide;
  if (wide || high) box.tabIndex = 0; else box.removeAttribute("tabindex");
}

function hintAll() {
  for (const box of document.querySelectorAll(".scroll")) hint(box);
}

// Charts, tables and windows change their sizes at any time.
const sizes = new ResizeObserver(hintAll);
for (const box of document.querySelectorAll(".scroll")) {
  const said = cell("p", "Scroll sideways for more \u2192", "hint");
  said.hidden = true;
  box.before(said);
  box.addEventListener("scroll", () => hint(box), { passive: true });
  sizes.observe(box);
  for (const inside of box.children) sizes.observe(inside);
}
document.addEventListener("click", (event) => {
  const name = event.target.closest && event.target.closest(".name");
  if (name) name.classList.toggle("open");
});

function row(name, gain, most, isNew) {
  const line = document.createElement("tr");
  const head = cell("th", "");
  head.append(named(name));
  head.scope = "row";
  const share = cell("td", "", "n");
  const track = document.createElement("span"), bar = document.createElement("span");
  track.className = "track";
  bar.className = "bar";
  bar.style.width = (most > 0 ? (100 * gain) / most : 0) + "%";
  track.append(bar);
  share.append(track, gain.toFixed(1));
  line.append(head, share, cell("td", isNew ? "new" : "", "new"));
  return line;
}

function show() {
  const i = Number(slider.value), point = contents.stops[i], before = i > 0 ? contents.stops[i - 1] : null;
  const text = point.said;
  said.textContent = text;
  slider.setAttribute("aria-valuetext", text);
  const known = new Set(before ? before.features : point.features);
  const most = Math.max(...point.gains, 0);
  body.replaceChildren(...point.features.map((f, k) => row(contents.names[f], point.gains[k], most, !known.has(f))));
  const now = new Set(point.features);
  const lost = before ? before.features.filter((f) => !now.has(f)) : [], few = lost.slice(0, MOST_LOST);
  const more = point.n_features - point.features.length;
  const parts = [more > 0 ? more.toLocaleString("en") + " more with smaller gains. " : ""];
  if (lost.length) parts.push("No longer there: ");
  few.forEach((f, k) => parts.push(k > 0 ? ", " : "", named(contents.names[f])));
  if (lost.length) parts.push(lost.length > few.length ? " and " + (lost.length - few.length) + " more." : ".");
  if (point.n_features === 0) parts.push(contents.parameter === "mu" ? "No feature is worth its price at this mu." : "No feature is worth its price.");
  document.getElementById("lost").replaceChildren(...parts);
  for (const name of ["tradeoff", "price"]) if (views[name]) views[name].signal("at", i).runAsync();
}

slider.addEventListener("input", show);
show();
drawAll(dark.matches && !paper.matches);
dark.addEventListener("change", () => drawAll(dark.matches));
paper.addEventListener("change", () => drawAll(dark.matches && !paper.matches));
