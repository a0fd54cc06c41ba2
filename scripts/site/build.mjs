/** Builds the documentation site: the Markdown files of the repository as pages that the node serves at /docs. See ADR 88. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { writePages } from "../pages.mjs";
import { filesOf, pathOf } from "./contents.mjs";
import { renderMarkdown } from "./markdown.mjs";
import { documentOf, hasPlayground } from "./template.mjs";

/**
 * @param root the package
 * @param outdir `dist/pages`
 * @param inputs receives the files of which the scripts of the pages are made
 * @returns bytes of all pages by encoding
 */
export async function buildSite(root, outdir, inputs) {
  const modules = browserModules(join(outdir, BROWSER_FOLDER));
  return writePages(outdir, "docs", [...(await sitePages(root, inputs)), ...modules]);
}

/** `dist/browser/` as seen from `dist/pages/`. */
const BROWSER_FOLDER = "../browser";

/** The modules of the node for browsers, which the playground imports. Chunks have names that change with their content. */
function browserModules(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".js"))
    .map((name) => ({
      path: `/docs/browser/${name}`,
      file: `${BROWSER_FOLDER}/${name}`,
      isHashed: name.includes("-"),
    }));
}

/** What `src/web/pages/` answers for a page that is not there. */
const NOT_FOUND_PATH = "/docs/not-found/";
const NOT_FOUND =
  "# There is no such page\n\nIt may have moved: search for it above, or begin at the [overview](/docs/).\n";

/** Every file of the site: `path`, `content`, `isHashed`. */
export async function sitePages(root, inputs) {
  const pages = renderPages(root);
  const titles = new Map(pages.map(({ file, title }) => [file, title]));
  titles.set("docs/index.md", "Overview");
  const files = await assetsOf(root, searchIndexOf(pages), inputs);
  const assets = {
    style: files.find(({ path }) => path.endsWith(".css")).path,
    script: files.find(({ path }) => path.startsWith("/docs/docs-")).path,
    playground: files.find(({ path }) => path.startsWith("/docs/playground-")).path,
    icon: files.find(({ path }) => path.endsWith(".svg")).path,
    index: files.find(({ path }) => path.endsWith(".json")).path,
  };
  const documents = pages.map((page) => ({
    path: pathOf(page.file),
    content: documentOf(page, (file) => titles.get(file), assets),
    runsWasm: hasPlayground(page),
  }));
  const missing = { file: "", ...renderMarkdown(NOT_FOUND, (href) => href) };
  documents.push({ path: NOT_FOUND_PATH, content: documentOf(missing, (file) => titles.get(file), assets) });
  return [...documents, ...files];
}

function renderPages(root) {
  const files = filesOf(root);
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  return files.map((file) => {
    const linkOf = (href) => {
      const [path, anchor] = href.split("#");
      if (path === "") return href;
      const target = posix.join(dirname(file), path);
      if (!texts.has(target)) return undefined;
      return pathOf(target) + (anchor ? `#${anchor}` : "");
    };
    return { file, ...renderMarkdown(texts.get(file), linkOf) };
  });
}

/** Of a section of a decision, the characters that the search sees: decisions are a third of all text, and few readers look for their details. */
const DECISION_CHARACTERS = 200;

/** Pages and their sections: `[path, title, [[anchor, heading, text], …]]` for each. */
function searchIndexOf(pages) {
  return pages.map(({ file, title, sections }) => {
    const end = file.startsWith("docs/adr/") ? DECISION_CHARACTERS : undefined;
    return [pathOf(file), title, sections.map(({ id, title: heading, text }) => [id, heading, text.slice(0, end)])];
  });
}

/** Style, scripts and search index, by names that change with their content. */
async function assetsOf(root, index, inputs) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      docs: "scripts/site/browser.mjs",
      playground: "scripts/site/playground.mjs",
      style: "scripts/site/style.css",
    },
    external: ["/docs/browser/*"],
    outdir: "docs",
    entryNames: "[name]-[hash]",
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  inputs?.push(...Object.keys(metafile.inputs));
  const text = JSON.stringify(index);
  const icon = readFileSync(join(root, "scripts/site/icon.svg"), "utf8");
  return [
    ...outputFiles.map(({ path, contents }) => ({
      path: `/docs/${basename(path)}`,
      content: contents,
      isHashed: true,
    })),
    { path: `/docs/search-${hashOf(text)}.json`, content: text, isHashed: true },
    { path: `/docs/icon-${hashOf(icon)}.svg`, content: icon, isHashed: true },
  ];
}

function hashOf(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
