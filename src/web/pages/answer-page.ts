import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import { PACKAGE_ROOT } from "../../base/package-root.ts";
import { ifPresent } from "../../store/storage/if-present.ts";

/** One file for browsers, as `scripts/pages.mjs` has written it. */
type Page = {
  /** below the folder of the pages */
  readonly file: string;
  /** value of Content-Type */
  readonly type: string;
  readonly etag: string;
  /** the path changes with the content, so browsers may cache it permanently */
  readonly isHashed: boolean;
  /** its scripts create WebAssembly */
  readonly runsWasm: boolean;
  /** `file` is compressed by gzip; clients without gzip get it decompressed */
  readonly isGzipped: boolean;
};

/** Pages by the path of their URL. */
export type PageTable = ReadonlyMap<string, Page>;

/** Folder of the built pages. */
export const PAGES_FOLDER = new URL("dist/pages/", PACKAGE_ROOT);

/**
 * The pages of the groups `names`; undefined if one of them is not built.
 * @param names of tables in `folder`, such as `explorer`
 */
export function readPageTable(names: readonly string[], folder: URL = PAGES_FOLDER): PageTable | undefined {
  const read = (name: string) => readFileSync(new URL(`${name}.json`, folder), "utf8");
  const tables = ifPresent(() => names.map(read));
  return tables && new Map(tables.flatMap((text) => Object.entries(JSON.parse(text) as Record<string, Page>)));
}

/** Allows scripts, styles and requests of this origin only: a page shows text that strangers wrote to a chain, and must not run or load any of it. */
export const PAGE_HEADERS = headersWith("script-src 'self'");

/** For a page that runs its own node, whose EVM is WebAssembly. It shows nothing from a chain that others write to. */
const WASM_PAGE_HEADERS = headersWith("script-src 'self' 'wasm-unsafe-eval'");

function headersWith(scripts: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": [
      "default-src 'none'",
      scripts,
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

const REVALIDATED = "no-cache";
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Shown for a missing page of this folder. */
const DOCS = "/docs/";
const NOT_FOUND = `${DOCS}not-found/`;

/** Answers a request for a page; false for any other request. */
export type AnswerPage = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Serves the pages of `table`. Files are read on first request and stay in memory: the build bounds them.
 * @param onReadError receives errors of missing or unreadable files; the request gets 503
 */
export function createPageServer(
  table: PageTable,
  onReadError: (error: unknown) => void,
  folder: URL = PAGES_FOLDER,
): AnswerPage {
  const contents = new Map<string, Buffer>();
  const read = (file: string): Buffer | undefined => {
    const known = contents.get(file);
    if (known !== undefined) return known;
    try {
      const bytes = readFileSync(new URL(file, folder));
      contents.set(file, bytes);
      return bytes;
    } catch (error) {
      onReadError(error);
      return undefined;
    }
  };
  return (request, response) => {
    const { method, url = "" } = request;
    if (method !== "GET" && method !== "HEAD") return false;
    const path = url.split("?", 1)[0]!;
    if (table.has(`${path}/`)) {
      response.writeHead(308, { location: `${path}/`, "content-length": 0 }).end();
      return true;
    }
    const found = table.get(path);
    const page = found ?? (path.startsWith(DOCS) ? table.get(NOT_FOUND) : undefined);
    if (page === undefined) return false;
    // Weak: both forms have the same tag.
    const etag = `W/"${page.etag}"`;
    response.appendHeader("vary", "accept-encoding");
    const headers = {
      ...(page.runsWasm ? WASM_PAGE_HEADERS : PAGE_HEADERS),
      etag,
      "cache-control": page.isHashed ? IMMUTABLE : REVALIDATED,
    };
    if (found !== undefined && request.headers["if-none-match"] === etag) {
      response.writeHead(304, headers).end();
      return true;
    }
    const stored = read(page.file);
    if (stored === undefined) {
      response.writeHead(503, { "content-length": 0 }).end();
      return true;
    }
    const isGzipped = page.isGzipped && accepts(request.headers["accept-encoding"], "gzip");
    const bytes = page.isGzipped && !isGzipped ? gunzipSync(stored) : stored;
    response.writeHead(found === undefined ? 404 : 200, {
      ...headers,
      "content-type": page.type,
      "content-length": bytes.length,
      ...(isGzipped && { "content-encoding": "gzip" }),
    });
    response.end(method === "HEAD" ? undefined : bytes);
    return true;
  };
}

/** Whether Accept-Encoding (RFC 9110, 12.5.3) has `encoding`, with another weight than 0. */
function accepts(header: string | string[] | undefined, encoding: string): boolean {
  return String(header ?? "")
    .split(",")
    .some((item) => {
      const [name, ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
      return name === encoding && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
    });
}
