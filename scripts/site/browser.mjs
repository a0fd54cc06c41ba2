/** In the browser: the search field, the menu on small screens, and buttons that copy code. */
import MiniSearch from "minisearch";

const RESULTS_MAX = 12;
/** Characters before a hit in the text that is shown with it. */
const EXCERPT_BEFORE = 40;
const EXCERPT_LENGTH = 160;

const form = document.querySelector("form.search");
const input = form.querySelector("input");
const list = form.querySelector("[role=listbox]");
let loading;
let selected = -1;

/** The index is fetched when somebody is about to search. */
function load() {
  loading ??= (async () => {
    const pages = await (await fetch(form.dataset.index)).json();
    const entries = pages.flatMap(([path, page, sections]) =>
      sections.map(([anchor, title, text]) => [anchor === "" ? path : `${path}#${anchor}`, title, page, text]),
    );
    const search = new MiniSearch({ fields: ["title", "page", "text"], tokenize: wordsOf });
    search.addAll(entries.map(([, title, page, text], id) => ({ id, title, page, text })));
    return { entries, search };
  })();
  return loading;
}

/** The words of a text; of a name such as `eth_gasPrice` its parts too, for "gasprice" and "gas price". */
function wordsOf(text) {
  const words = text.split(/[^\p{L}\p{N}_.-]+/u).filter((word) => word !== "");
  return words.flatMap((word) => {
    const parts = word.split(/[_.-]/);
    const smaller = parts.flatMap((part) => part.split(/(?<=[a-z\d])(?=[A-Z])/));
    return [...new Set([word, ...parts, ...smaller])].filter((part) => part !== "");
  });
}

async function showResults() {
  const query = input.value.trim();
  const { entries, search } = await load();
  // Another letter was typed meanwhile.
  if (query !== input.value.trim()) return;
  const found = search.search(query, {
    boost: { title: 5, page: 2 },
    boostDocument: (id) => weightOf(entries[id]),
    // A query is split at blanks alone: whoever types a whole name means that name.
    tokenize: (words) => words.split(/\s+/).filter((word) => word !== ""),
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: "AND",
  });
  selected = -1;
  list.replaceChildren(...found.slice(0, RESULTS_MAX).map(({ id, terms }, i) => itemOf(entries[id], terms, i)));
  if (found.length === 0) {
    const nothing = optionOf("div", "result-none");
    nothing.setAttribute("aria-disabled", "true");
    nothing.textContent = "Nothing found";
    list.append(nothing);
  }
  setOpen(query !== "");
}

/** Methods are looked for most, and several namespaces have one of the same name; errors are many, and are looked for by their code. */
function weightOf([url, title]) {
  if (url.startsWith("/docs/rpc/")) return title.startsWith("eth_") ? 2 : 1.5;
  return url.startsWith("/docs/reference/errors/") || url.startsWith("/docs/adr/") ? 0.7 : 1;
}

function itemOf([url, title, page, text], terms, index) {
  const link = optionOf("a", `result-${index}`);
  link.href = url;
  link.tabIndex = -1;
  link.append(
    textOf("strong", "", title),
    textOf("span", "page", title === page ? "" : page),
    textOf("span", "excerpt", excerptOf(text, terms)),
  );
  return link;
}

function optionOf(tag, id) {
  const option = document.createElement(tag);
  option.id = id;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  return option;
}

function excerptOf(text, terms) {
  const lower = text.toLowerCase();
  const hits = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const start = hits.length === 0 ? 0 : Math.max(0, Math.min(...hits) - EXCERPT_BEFORE);
  const excerpt = text.slice(start, start + EXCERPT_LENGTH);
  return `${start > 0 ? "…" : ""}${excerpt}${start + EXCERPT_LENGTH < text.length ? "…" : ""}`;
}

function textOf(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function setOpen(isOpen) {
  list.hidden = !isOpen;
  input.setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) input.removeAttribute("aria-activedescendant");
}

function select(step) {
  const options = [...list.querySelectorAll("a")];
  if (options.length === 0) return;
  options[selected]?.setAttribute("aria-selected", "false");
  selected = (selected + step + options.length) % options.length;
  options[selected].setAttribute("aria-selected", "true");
  options[selected].scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", options[selected].id);
}

input.addEventListener("focus", load);
input.addEventListener("input", showResults);
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") select(1);
  else if (event.key === "ArrowUp") select(selected === -1 ? 0 : -1);
  else if (event.key === "Escape") setOpen(false);
  else return;
  event.preventDefault();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelectorAll("a")[Math.max(0, selected)]?.click();
});
list.addEventListener("click", () => setOpen(false));
document.addEventListener("click", ({ target }) => {
  if (!form.contains(target)) setOpen(false);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea")) return;
  event.preventDefault();
  input.focus();
});

const menu = document.querySelector("button.menu");
menu.addEventListener("click", () => {
  const isOpen = menu.getAttribute("aria-expanded") !== "true";
  menu.setAttribute("aria-expanded", String(isOpen));
  document.body.classList.toggle("menu-open", isOpen);
});

for (const figure of document.querySelectorAll("figure.code")) {
  const button = textOf("button", "copy", "Copy");
  button.type = "button";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  figure.append(button);
}
