"use strict";
const { title, text: textName, figures, vocabulary } = JSON.parse(document.getElementById("data").textContent);
const encoder = new Encoder(vocabulary);
const $ = (id) => document.getElementById(id);
const number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });
const MOST_SHOWN = 2000;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// ------------------------------------------------------------------------------------------- tokens
// Writes bytes that are not a whole character as <E2>, and an invisible character as its number.
function shownParts(id) {
  if (encoder.specialIds.has(id)) return [vocabularySpecial(id)];
  const bytes = encoder.bytesOf(id), parts = [];
  for (let i = 0; i < bytes.length; ) {
    const length = lengthAt(bytes, i);
    if (!length) {
      parts.push(element("i", {}, `<${bytes[i].toString(16).toUpperCase().padStart(2, "0")}>`));
      i++;
      continue;
    }
    parts.push(visible(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.slice(i, i + length))));
    i += length;
  }
  return parts;
}

function vocabularySpecial(id) {
  for (const [token, other] of encoder.special) if (other === id) return token;
  return "";
}

// The number of bytes of the character that begins there; 0 if none begins there.
function lengthAt(bytes, i) {
  const first = bytes[i];
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (!length || i + length > bytes.length) return 0;
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.slice(i, i + length));
    return length;
  } catch {
    return 0;
  }
}

function visible(character) {
  const names = { " ": "\u00b7", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  if (character in names) return element("i", {}, names[character]);
  if (character < " " || character === "\x7f") {
    return element("i", {}, `<${character.codePointAt(0).toString(16).toUpperCase().padStart(2, "0")}>`);
  }
  if (/[\p{Cc}\p{Cf}\p{Z}]/u.test(character)) {
    return element("i", {}, `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
  }
  return character;
}

function tokenButton(id) {
  const uses = figures.uses[id] || 0;
  const button = element("button", { type: "button", class: "token", "data-id": id, tabindex: "-1" }, ...shownParts(id));
  button.title = `id ${id}, used ${number(uses)} times`;
  button.setAttribute("aria-label", `${button.textContent.replace(/\u00b7/g, "space ")}, id ${id}`);
  return button;
}

function fill(id, ids) {
  $(id).replaceChildren(...ids.map(tokenButton));
  keep($(id), $(id).querySelector(".token"));
}

// In a group of tokens, the Tab key stops at one token; the arrow keys move to the others.
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

function keep(group, token) {
  for (const other of group.querySelectorAll('.token[tabindex="0"]')) other.tabIndex = -1;
  if (token) token.tabIndex = 0;
}

document.addEventListener("focusin", (event) => {
  if (event.target.matches(".token")) keep(event.target.closest(".tokens, #tree"), event.target);
});

document.addEventListener("keydown", (event) => {
  if (!(event.key in STEPS) || !event.target.matches(".token")) return;
  const tokens = [...event.target.closest(".tokens, #tree").querySelectorAll(".token")];
  const to = tokens.indexOf(event.target) + STEPS[event.key];
  tokens[Math.max(0, Math.min(to, tokens.length - 1))].focus();
  event.preventDefault();
});

// --------------------------------------------------------------------------------------------- tree
function branch(id, depth) {
  const item = element("li", {}, tokenButton(id));
  const rank = encoder.specialIds.has(id) ? undefined : encoder.madeBy.get(id);
  const what = encoder.specialIds.has(id) ? "special token" : rank !== undefined ? `merge ${number(rank + 1)}`
    : encoder.tokens.get(id).length === 1 ? "byte" : "no merge makes it";
  item.append(element("span", { class: "soft" }, `id ${id}, ${what}`));
  if (rank !== undefined && depth < 200) {
    item.append(element("ul", {}, branch(encoder.merges[2 * rank], depth + 1), branch(encoder.merges[2 * rank + 1], depth + 1)));
  }
  return item;
}

function showTree(id, focus) {
  const from = $("tree").contains(document.activeElement);
  $("tree").replaceChildren(element("ul", { class: "tree" }, branch(id, 0)));
  const root = $("tree").querySelector(".token"), shown = root.textContent;
  keep($("tree"), root);
  if (from) root.focus();
  const uses = figures.uses[id] || 0;
  $("tree-summary").textContent =
    `“${shown}”, id ${id}: used ${number(uses)} times in ${textName} (${number((100 * uses) / figures.n_tokens, 3)} % of its tokens).`;
  for (const other of document.querySelectorAll(".token[aria-current]")) other.removeAttribute("aria-current");
  for (const same of document.querySelectorAll(`.token[data-id="${id}"]`)) same.setAttribute("aria-current", "true");
  if (focus) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    $("h-tree").focus({ preventScroll: true });
    $("h-tree").scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".token[data-id]");
  if (button) showTree(Number(button.dataset.id), !$("tree").contains(button));
});

$("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = $("wanted").value;
  const bytes = new TextEncoder().encode(wanted);
  const ids = encoder.merge(Array.from(bytes, (value) => encoder.idOfByte[value]));
  if (encoder.special.has(wanted)) showTree(encoder.special.get(wanted));
  else if (ids.length === 1) showTree(ids[0]);
  else if (/^\d+$/.test(wanted) && encoder.tokens.has(Number(wanted))) showTree(Number(wanted));
  else $("tree-summary").textContent = `“${wanted}” is neither a token nor an id; as a text it has ${ids.length} tokens.`;
});

// ----------------------------------------------------------------------------------------------- try
function encodeTyped() {
  const typed = $("typed").value;
  const ids = encoder.encode(typed, $("allow-special").checked);
  fill("typed-tokens", ids.slice(0, MOST_SHOWN));
  const bytes = new TextEncoder().encode(typed).length;
  const rest = ids.length > MOST_SHOWN ? `, the first ${number(MOST_SHOWN)} shown` : "";
  const ratio = ids.length ? `, ${number(bytes / ids.length, 2)} bytes a token` : "";
  $("typed-summary").textContent = `${number(ids.length)} tokens, ${number(bytes)} bytes${ratio}${rest}`;
  $("typed-ids").textContent = ids.join(" ");
}
$("typed").addEventListener("input", encodeTyped);
$("allow-special").addEventListener("change", encodeTyped);

// ---------------------------------------------------------------------------------------------- charts
const SVG = "http://www.w3.org/2000/svg";
function drawn(name, attributes, content) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (content !== undefined) made.textContent = content;
  return made;
}

function short(value) {
  for (const [size, sign] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (value >= size) return `${Number((value / size).toPrecision(3))}${sign}`;
  return String(Number(value.toPrecision(3)));
}

// About four round numbers from the least to the greatest; powers of ten on a logarithmic axis.
function ticks(least, most, log) {
  const kept = [];
  if (log) {
    const every = Math.ceil(Math.log10(most / least + 1) / 5);
    for (let power = Math.ceil(Math.log10(least)); 10 ** power <= most; power += every) kept.push(10 ** power);
    return kept;
  }
  const size = (most - least) / 4 || 1, unit = 10 ** Math.floor(Math.log10(size));
  const step = unit * [1, 2, 5, 10].find((times) => unit * times >= size);
  for (let i = Math.ceil(least / step); i * step <= most; i++) kept.push(i * step);
  return kept;
}

// A table of the same figures, for readers who cannot see the drawing.
function figure(id, svg, label, caption, head, rows) {
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const every = Math.ceil(rows.length / 20);
  const kept = rows.filter((_, i) => i % every === 0 || i === rows.length - 1);
  const cells = (name, values) => element("tr", {}, ...values.map((value) => element(name, name === "th" ? { scope: "col" } : {}, String(value))));
  const table = element("table", {}, element("thead", {}, cells("th", head)), element("tbody", {}, ...kept.map((row) => cells("td", row))));
  $(id).replaceChildren(svg, element("figcaption", {}, caption),
    element("details", {}, element("summary", {}, "As a table"), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}, as a table` }, table)));
}

function curve(id, points, { label, caption, head, logX = false, logY = false, digits = 2 }) {
  const width = 480, height = 220, left = 54, bottom = 28, top = 8, right = 8;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}` });
  const scale = (log) => (log ? (value) => Math.log10(Math.max(value, 1)) : (value) => value);
  const [sx, sy] = [scale(logX), scale(logY)];
  const xs = points.map(([x]) => sx(x)), ys = points.map(([, y]) => sy(y));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)], y0 = 0, y1 = Math.max(...ys) || 1;
  const px = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right);
  const py = (y) => height - bottom - ((y - y0) / (y1 - y0 || 1)) * (height - bottom - top);
  for (const value of ticks(logY ? 1 : 0, logY ? 10 ** y1 : y1, logY)) {
    const y = py(sy(value));
    svg.append(drawn("line", { class: "axis", x1: left, x2: width - right, y1: y, y2: y }));
    svg.append(drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, short(value)));
  }
  for (const value of ticks(points[0][0], points[points.length - 1][0], logX)) {
    svg.append(drawn("text", { x: px(sx(value)), y: height - 8, "text-anchor": "middle" }, short(value)));
  }
  svg.append(drawn("polyline", { class: "curve", points: points.map((_, i) => `${px(xs[i]).toFixed(1)},${py(ys[i]).toFixed(1)}`).join(" ") }));
  figure(id, svg, label, caption, head, points.map(([x, y]) => [number(x), number(y, digits)]));
}

function bars(id, entries, { label, caption, head }) {
  const row = 24, width = 480, left = 24 + 11 * Math.max(...entries.map(([name]) => Math.min(13, String(name).length))), height = Math.max(row, entries.length * row);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}` });
  const most = Math.max(1, ...entries.map(([, count]) => count));
  entries.forEach(([name, count], i) => {
    const length = (count / most) * (width - left - 70);
    svg.append(drawn("text", { x: left - 8, y: i * row + 17, "text-anchor": "end" }, String(name)));
    svg.append(drawn("rect", { class: "bar", x: left, y: i * row + 3, width: Math.max(1, length), height: row - 6, rx: 2 }));
    svg.append(drawn("text", { x: left + length + 6, y: i * row + 17 }, number(count)));
  });
  figure(id, svg, label, caption, head, entries.map(([name, count]) => [name, number(count)]));
}

function grouped(lengths) {
  const kept = lengths.filter(([length]) => length <= 16);
  const rest = lengths.filter(([length]) => length > 16).reduce((sum, [, count]) => sum + count, 0);
  return rest ? [...kept, ["17 and more", rest]] : kept;
}

function start() {
  const { n_bytes, n_tokens, n_words, sizes } = figures;
  $("subtitle").textContent = `measured on ${textName}`;
  const facts = {
    "Ids": number(figures.n_ids), "Merges": number(figures.n_merges), "Special tokens": number(figures.n_special),
    "Split pattern": typeof figures.pattern === "string" ? figures.pattern : figures.pattern.join(" then "),
    "Bytes of text": number(n_bytes), "Tokens of text": number(n_tokens), "Bytes per token": number(n_bytes / n_tokens, 3),
    "Tokens per word": n_words ? number(n_tokens / n_words, 3) : "–",
    "Never used": `${number(figures.n_unused)} (${number((100 * figures.n_unused) / (figures.n_ids - figures.n_special), 1)} %)`,
    "How evenly tokens are used (Rényi)": number(figures.efficiency, 4),
  };
  for (const [name, value] of Object.entries(facts)) $("facts").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  const size = "Tokens in the vocabulary";
  curve("chart-bytes", sizes.map(([v, n]) => [v, n_bytes / n]), {
    label: "Curve of bytes per token", head: [size, "Bytes per token"],
    caption: "How many bytes of this text a token would hold, if the vocabulary had only so many of its first tokens.",
  });
  curve("chart-words", sizes.map(([v, n]) => [v, n / Math.max(1, n_words)]), {
    label: "Curve of tokens per word", head: [size, "Tokens per word"], caption: "Words are separated by white space.",
  });
  if (figures.times.length > 1) {
    curve("chart-times", figures.times, {
      label: "Curve of the counts of pairs", head: ["Merge", "Times"], logX: true, logY: true, digits: 0,
      caption: "How often the pair of a merge is in this text when it is merged. Both axes are logarithmic.",
    });
  } else $("h-times").closest("section").remove();
  bars("chart-lengths", grouped(figures.lengths), { label: "Histogram of lengths", head: ["Bytes", "Tokens"], caption: "How many tokens of the vocabulary have this length. Special tokens are left out." });
  bars("chart-scripts", figures.categories, { label: "Tokens by script", head: ["Script or category", "Tokens"], caption: "Each token counts for the script or category of most of its characters." });
  fill("most-used", figures.most_used);
  fill("longest", figures.longest);
  fill("unused", figures.unused);
  const more = figures.n_unused > figures.unused.length ? `; the first ${number(figures.unused.length)} are` : "";
  $("unused-summary").textContent = figures.n_unused ? `${number(figures.n_unused)} tokens${more}:` : "All tokens are used.";
  fill("not-live", figures.not_live);
  const { live, "rank-dead": byRanks, "pattern-dead": byPattern, unknown } = figures.statuses;
  $("status-summary").textContent =
    `${number(live)} tokens can occur: for each, a text is known. ${number(byRanks)} can never occur because of the merges, and ` +
    `${number(byPattern)} because of the split pattern; this is proved. For ${number(unknown)}, neither is known.`;
  if (!encoder.canSplit) {
    $("typed").disabled = true;
    $("typed-summary").textContent = "JavaScript cannot run the split pattern of this tokenizer, so this page cannot encode.";
  } else {
    $("typed").value = "Hello, world! Wörter, 文字 und 😀";
    encodeTyped();
  }
}
start();
