/**
 * Checks that what documents and comments refer to exists: files, folders, anchors of links, and decisions by number. Files are
 * moved more often than prose is read, so a reference that nobody checks is soon wrong.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { renderMarkdown } from "./site/markdown.mjs";

/** What a checkout has besides its own files, with all that is hidden. */
const IGNORED = new Set(["node_modules", "dist"]);
const DECISIONS = "docs/adr";

/** A path of the repository in running text. Names in capitals and `*` stand for something: only what is before them is checked. */
const PATH = /(?<![\w./@-])(?:src|test|scripts|docs|bench|deploy|examples|contracts)\/[\w./*-]*/g;
/** The same in a comment, where `deploy/` and others are more often words. */
const PATH_IN_COMMENT = /(?<![\w./@-])(?:src|test|docs)\/[\w./*-]*/g;
/** Files of execution-apis and of projects with contracts. This repository has none of these kinds in `src/`. */
const FOREIGN = /^src\/.*\.(?:yaml|sol)$/;
const PLACEHOLDER = /^(?:[A-Z]{2,}\b.*|.*[*].*)$/;
/** A source file in code format: by its name, the end of its path, or from the document's folder. */
const NAMED_FILE = /`([\w./-]+\.(?:ts|tsx|mts|mjs))`/g;
/** A file that the reader of a document writes, as the site's code blocks name it. */
const WRITTEN_FILE = /^ *```.*\bfile=(\S+)/gm;
const LINK = /\]\(([^()\s]+)\)|^\[[^\]]+\]:\s+(\S+)/gm;
const DECISION = /\bADRs? (\d+)\b/g;
/** Few sources have one; the others need not be split into lines. */
const MENTION = /\bADRs? \d|\b(?:src|test|docs)\//;
const COMMENT = /(?:^\s*\*|\/\*|(?<!:)\/\/)(.*)$/;

/** Files by path from the root, with `/`, and their texts. */
export type Tree = ReadonlyMap<string, () => string>;

/** One line a fault, `file:line: what is missing`; empty when all references hold. */
export function checkPaths(tree: Tree = checkout()): string[] {
  const names = namesOf(tree);
  const decisions = new Set(
    [...tree.keys()]
      .filter((file) => file.startsWith(`${DECISIONS}/`))
      .map((file) => Number.parseInt(file.slice(DECISIONS.length + 1), 10)),
  );
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsOf = (file: string): ReadonlySet<string> => {
    const known = anchors.get(file) ?? anchorsIn(tree.get(file)!());
    anchors.set(file, known);
    return known;
  };

  const pathFaults = (line: string, pattern: RegExp) =>
    [...line.matchAll(pattern)]
      .map(([path]) => fixedPart(path))
      .filter((path) => !FOREIGN.test(path) && !names.paths.has(path) && !names.stems.has(path));
  const decisionFaults = (line: string) =>
    [...line.matchAll(DECISION)].filter(([, number]) => !decisions.has(Number(number))).map(([text]) => text);
  const linkFaults = (file: string, line: string) =>
    [...line.matchAll(LINK)]
      .map(([, inline, reference]) => inline ?? reference!)
      .filter((href) => !/^(?:[a-z]+:|\/)/.test(href))
      .filter((href) => {
        const [path, anchor] = href.split("#") as [string, string?];
        const target = path === "" ? file : posix.join(posix.dirname(file), path);
        if (!names.paths.has(target.replace(/\/$/, ""))) return true;
        return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor);
      });
  const namedFileFaults = (file: string, line: string, written: ReadonlySet<string>) =>
    [...line.matchAll(NAMED_FILE)]
      .map(([, path]) => path!)
      .filter((path) => fixedPart(path) === path && !written.has(path))
      .filter((path) =>
        path.startsWith("../") ? !names.paths.has(posix.join(posix.dirname(file), path)) : !names.ends.has(path),
      );

  const faults: string[] = [];
  for (const [file, text] of tree) {
    const isDocument = file.endsWith(".md");
    if (!isDocument && !/\.(?:[cm]?ts|tsx|mjs)$/.test(file)) continue;
    const content = text();
    if (!isDocument && !MENTION.test(content)) continue;
    const written = new Set([...content.matchAll(WRITTEN_FILE)].map(([, name]) => name!));
    const lines = (isDocument ? withoutFences(content) : content).split("\n");
    for (const [index, line] of lines.entries()) {
      const found = isDocument
        ? [
            ...linkFaults(file, line),
            ...pathFaults(line.replace(LINK, "]"), PATH),
            ...namedFileFaults(file, line, written),
            ...decisionFaults(line),
          ]
        : commentFaults(line, pathFaults, decisionFaults);
      for (const fault of new Set(found)) faults.push(`${file}:${index + 1}: ${fault}`);
    }
  }
  return faults;
}

function commentFaults(
  line: string,
  pathFaults: (line: string, pattern: RegExp) => string[],
  decisionFaults: (line: string) => string[],
): string[] {
  const comment = COMMENT.exec(line)?.[1];
  if (comment === undefined) return [];
  return [...pathFaults(comment, PATH_IN_COMMENT), ...decisionFaults(comment)];
}

/** The part of a path before a placeholder, without the punctuation and the slash at its end. */
function fixedPart(path: string): string {
  const parts = path.split("/");
  const end = parts.findIndex((part) => PLACEHOLDER.test(part) || part.startsWith("NN-"));
  return (end === -1 ? parts : parts.slice(0, end)).join("/").replace(/[./-]+$/, "");
}

/** What a reference may be: `paths` of files and folders, `stems` of files (`test/e2e/viem` for `viem.test.ts`), `ends` of paths. */
function namesOf(tree: Tree) {
  const paths = new Set<string>();
  const stems = new Set<string>();
  const ends = new Set<string>();
  for (const file of tree.keys()) {
    const parts = file.split("/");
    for (let i = 1; i <= parts.length; i++) paths.add(parts.slice(0, i).join("/"));
    for (let i = 0; i < parts.length; i++) ends.add(parts.slice(i).join("/"));
    stems.add(file.replace(/(?:\.test)?\.\w+$/, ""));
  }
  return { paths, stems, ends };
}

/** Ids of headings and of table rows that begin with a name, as the site makes them. */
function anchorsIn(markdown: string): ReadonlySet<string> {
  const { headings, sections } = renderMarkdown(markdown, () => undefined);
  return new Set([...headings, ...sections].map(({ id }) => id));
}

/** Code blocks are programs of the reader, with paths of their own. Lines stay where they are. */
function withoutFences(markdown: string): string {
  return markdown.replace(/^( *)```[\s\S]*?^\1```/gm, (block) => block.replace(/[^\n]+/g, ""));
}

function checkout(): Tree {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const tree = new Map<string, () => string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (IGNORED.has(entry.name) || entry.name.startsWith(".")) continue;
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else tree.set(path, () => readFileSync(join(root, path), "utf8"));
    }
  };
  walk("");
  return tree;
}
