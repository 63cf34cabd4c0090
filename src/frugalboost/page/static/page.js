"use strict";
// Text goes into the page by textContent alone: names of features are data.
const contents = JSON.parse(document.getElementById("contents").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const paper = window.matchMedia("print");
const views = {};

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
    if (name === "tradeoff" || name === "price") {
      result.view.signal("at", Number(slider.value));
      await result.view.runAsync();
      result.view.addEventListener("click", (_, item) => {
        if (item && item.datum && Number.isInteger(item.datum.i)) { slider.value = item.datum.i; show(); }
      });
    }
  }
  document.documentElement.dataset.ready = "yes";
}

const slider = document.getElementById("at");
const said = document.getElementById("said");
const body = document.querySelector("#listed tbody");

function number(value, digits) {
  return value === null ? "-" : Number(Number(value).toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

function error(value) {
  if (value === null) return "-";
  return contents.measure.unit ? value.toFixed(1) + contents.measure.unit : number(value, 4);
}

function cell(tag, text, kind) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function row(name, gain, most, isNew) {
  const line = document.createElement("tr");
  const head = cell("th", name);
  head.scope = "row";
  const share = cell("td", "", "n");
  const bar = document.createElement("span");
  bar.className = "bar";
  bar.style.width = (most > 0 ? (6 * gain) / most : 0) + "rem";
  share.append(bar, gain.toFixed(1));
  line.append(head, share, cell("td", isNew ? "new" : "", "new"));
  return line;
}

function show() {
  const i = Number(slider.value), point = contents.stops[i], before = i > 0 ? contents.stops[i - 1] : null;
  const price = contents.prices.differ ? ", cost " + number(point.price, 4) + (contents.prices.unit ? " " + contents.prices.unit : "") : "";
  const name = contents.parameter === "mu" && point.on_path ? "mu = " + number(point.value, 3) + ": " : "";
  const test = point.test_error === null ? "" : ", on the test rows " + error(point.test_error);
  const here = point.chosen ? " (the chosen one)" : "";
  const text = name + point.n_features + (point.n_features === 1 ? " feature" : " features") + price + ", " + contents.measure.title + " " + error(point.error) + " ± " + error(point.spread) + test + here;
  said.textContent = text;
  slider.setAttribute("aria-valuetext", text);
  const known = new Set(before ? before.features : point.features);
  const most = Math.max(...point.gains, 0);
  body.replaceChildren(...point.features.map((f, k) => row(contents.names[f], point.gains[k], most, !known.has(f))));
  const now = new Set(point.features);
  const lost = before ? before.features.filter((f) => !now.has(f)).map((f) => contents.names[f]) : [];
  const more = point.n_features - point.features.length;
  document.getElementById("lost").textContent =
    (more > 0 ? more + " more with smaller gains. " : "") + (lost.length ? "No longer there: " + lost.join(", ") + "." : "") + (point.n_features === 0 ? "No feature is worth its price at this mu." : "");
  for (const name of ["tradeoff", "price"]) if (views[name]) views[name].signal("at", i).runAsync();
}

slider.addEventListener("input", show);
show();
drawAll(dark.matches && !paper.matches);
dark.addEventListener("change", () => drawAll(dark.matches));
paper.addEventListener("change", () => drawAll(dark.matches && !paper.matches));
