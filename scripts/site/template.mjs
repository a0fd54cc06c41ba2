import { MENU, pathOf } from "./contents.mjs";
import { escapeHtml } from "./escape.mjs";

/** Headings of more than this many sections are too long a list to help. */
const CONTENTS_MAX = 60;

/**
 * The whole document of one page.
 *
 * @param page of `renderMarkdown`, with its `file`
 * @param titleOf a file's page
 * @param assets paths of `style`, `script`, `playground`, `icon` and `index`
 */
export function documentOf(page, titleOf, assets) {
  const title = page.file === "docs/index.md" ? "Evmint" : `${page.title} – Evmint`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}"></script>
${hasPlayground(page) ? `<script type="module" src="${assets.playground}"></script>\n` : ""}</head>
<body>
<a class="skip" href="#content">To the text</a>
<header><div class="bar">
<button type="button" class="menu" aria-expanded="false" aria-controls="menu" aria-label="Menu">☰</button>
<a class="brand" href="/docs/">Evmint</a>
<form class="search" role="search" data-index="${assets.index}">
<input type="search" role="combobox" aria-label="Search" aria-expanded="false" aria-controls="results" aria-autocomplete="list" placeholder="Search" autocomplete="off" spellcheck="false">
<div id="results" class="results" role="listbox" aria-label="Results" hidden></div>
</form>
</div></header>
<div class="columns">
<nav id="menu" aria-label="Pages">
${MENU.map((section) => menuSection(section, page.file, titleOf)).join("\n")}
</nav>
<main id="content">
${withContents(page)}</main>
${contentsAside(page.headings)}
</div>
</body>
</html>
`;
}

/** Whether a node runs in the page. */
export function hasPlayground({ html }) {
  return html.includes('id="playground"');
}

/** Sections of many pages, which are folded until one of their pages is shown. */
const FOLDED = new Set(["Methods", "Operations", "Internals"]);

function menuSection([name, files], current, titleOf) {
  const items = files.map((file) => {
    const isHere = file === current || (file.startsWith("docs/adr/") && current.startsWith("docs/adr/"));
    const mark = isHere ? ` aria-current="${file === current ? "page" : "true"}"` : "";
    return `<li><a href="${pathOf(file)}"${mark}>${escapeHtml(titleOf(file))}</a></li>`;
  });
  const list = `<ul>${items.join("")}</ul>`;
  if (!FOLDED.has(name)) return `<h2>${name}</h2>\n${list}`;
  const isOpen = files.includes(current) || (name === "Internals" && current.startsWith("docs/adr/"));
  return `<details${isOpen ? " open" : ""}><summary>${name}</summary>${list}</details>`;
}

/** Links to the sections of a page that has several; undefined for others. */
function contentsOf(headings) {
  const all = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const shown = all.length <= CONTENTS_MAX ? all : all.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return undefined;
  const items = shown.map(
    ({ depth, id, name }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(name)}</a></li>`,
  );
  return `<ul>${items.join("")}</ul>`;
}

/** Beside the text, where the window is wide. */
function contentsAside(headings) {
  const list = contentsOf(headings);
  return list ? `<aside aria-label="On this page"><h2>On this page</h2>${list}</aside>` : "";
}

/** The text with the same list below its title, folded, where the window is not wide. */
function withContents({ html, headings }) {
  const list = contentsOf(headings);
  if (list === undefined) return html;
  const details = `<details class="on-page"><summary>On this page</summary>${list}</details>\n`;
  return html.replace("</h1>\n", (end) => end + details);
}
