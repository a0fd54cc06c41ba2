import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { type AnswerPage, createPageServer, PAGE_HEADERS, readPageTable } from "./answer-page.ts";

type WritePages = (
  outdir: string,
  name: string,
  pages: readonly (
    | { path: string; content: string; isHashed?: boolean; runsWasm?: boolean }
    | { path: string; file: string }
  )[],
) => void;
const build = new URL("../../../scripts/pages.mjs", import.meta.url).href;
const { writePages }: { writePages: WritePages } = await import(build);

const SCRIPT = "let x = 1;\n".repeat(1000);
const DOCUMENT = "<!doctype html><title>é</title>";
const NOT_FOUND = "<!doctype html><title>nothing here</title>";
const folder = mkdtempSync(join(tmpdir(), "evmint-pages-"));
const folderUrl = pathToFileURL(`${folder}/`);
const readErrors: unknown[] = [];
const answers: AnswerPage[] = [];
let server: Server;

before(async () => {
  writeFileSync(join(folder, "built.js"), SCRIPT);
  writePages(folder, "one", [
    { path: "/one/", content: DOCUMENT },
    { path: "/docs/not-found/", content: NOT_FOUND },
    { path: "/wasm/", content: DOCUMENT, runsWasm: true },
    { path: "/wasm/node.js", file: "built.js" },
  ]);
  writePages(folder, "two", [{ path: "/two/main-1a.js", content: SCRIPT, isHashed: true }]);
  const table = readPageTable(["one", "two"], folderUrl)!;
  answers.push(createPageServer(table, (error) => readErrors.push(error), folderUrl));
  server = createServer((incoming, response) => {
    if (!answers.some((answer) => answer(incoming, response))) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer };

function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    // `path` is sent as it is, dots included.
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false });
    sent.once("error", reject).once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.once("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.end();
  });
}

test("a page of the documentation that is not there is a page with status 404, elsewhere it is none of the server's", async () => {
  const { status, headers, body } = await ask("/docs/nope/", { "if-none-match": "*" });
  assert.equal(status, 404);
  assert.equal(headers["content-type"], "text/html; charset=utf-8");
  assert.equal(body.toString(), NOT_FOUND);
  assert.equal((await ask("/docs/nope", {}, "HEAD")).status, 404);
  assert.equal((await ask("/nope/")).body.length, 0);
});

test("a page has its type, its length and every security header", async () => {
  const { status, headers, body } = await ask("/one/?query");
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "text/html; charset=utf-8");
  assert.equal(headers["content-length"], String(Buffer.byteLength(DOCUMENT)));
  assert.equal(headers["cache-control"], "no-cache");
  assert.equal(body.toString(), DOCUMENT);
  for (const [name, value] of Object.entries(PAGE_HEADERS)) assert.equal(headers[name], value);
});

test("the content security policy allows no unsafe source and no other origin", () => {
  const policy = PAGE_HEADERS["content-security-policy"]!;
  assert.doesNotMatch(policy, /unsafe|\*|http/);
  assert.match(policy, /^default-src 'none';/);
});

test("a page is sent by gzip to clients that accept it, and expanded to others", async () => {
  const path = "/two/main-1a.js";
  const gzip = await ask(path, { "accept-encoding": "br, gzip;q=0.5" });
  assert.equal(gzip.headers["content-encoding"], "gzip");
  assert.ok(gzip.body.length < SCRIPT.length / 10);
  assert.equal(gunzipSync(gzip.body).toString(), SCRIPT);
  const plain = await ask(path);
  const refusing = await ask(path, { "accept-encoding": "br, gzip;q=0" });
  for (const { headers, body } of [plain, refusing]) {
    assert.equal(headers["content-encoding"], undefined);
    assert.equal(body.toString(), SCRIPT);
  }
  for (const { headers } of [gzip, plain]) assert.equal(headers["vary"], "accept-encoding");
});

test("a path that changes with its content is stored for good, and a known tag is answered with 304", async () => {
  const first = await ask("/two/main-1a.js");
  assert.match(String(first.headers["cache-control"]), /immutable/);
  const again = await ask("/two/main-1a.js", { "if-none-match": String(first.headers["etag"]) });
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
});

test("HEAD gets the headers alone", async () => {
  const { status, headers, body } = await ask("/one/", {}, "HEAD");
  assert.equal(status, 200);
  assert.equal(headers["content-length"], String(Buffer.byteLength(DOCUMENT)));
  assert.equal(body.length, 0);
});

test("a folder without its slash is redirected", async () => {
  const { status, headers } = await ask("/one");
  assert.deepEqual([status, headers["location"]], [308, "/one/"]);
});

test("only paths of the table are served", async () => {
  const others = ["/", "/one/index.html", "/two/main-1a.js.gz", "/one.json", "/one/../one.json"];
  for (const path of [...others, "/one/%2e%2e/one.json", "//one/", "/two/../../../etc/passwd"]) {
    assert.equal((await ask(path)).status, 404, path);
  }
  assert.equal((await ask("/one/", {}, "POST")).status, 404);
});

test("a file that a later build has removed is an error of the operator's, reported and answered with 503", async () => {
  writePages(folder, "gone", [{ path: "/gone.txt", content: "x" }]);
  const table = readPageTable(["gone"], folderUrl)!;
  rmSync(join(folder, "gone.txt"));
  const answerPage = createPageServer(table, (error) => readErrors.push(error), folderUrl);
  answers.unshift(answerPage);
  assert.equal((await ask("/gone.txt")).status, 503);
  assert.equal((readErrors[0] as NodeJS.ErrnoException).code, "ENOENT");
});

test("a table that is not built is undefined", () => {
  assert.equal(readPageTable(["one", "three"], folderUrl), undefined);
});

test("only a page that runs WebAssembly may make it, and a file that was built before is served as it is", async () => {
  const policyOf = ({ headers }: Answer) => String(headers["content-security-policy"]);
  assert.match(policyOf(await ask("/wasm/")), /script-src 'self' 'wasm-unsafe-eval';/);
  const built = await ask("/wasm/node.js", { "accept-encoding": "br, gzip" });
  assert.equal(built.body.toString(), SCRIPT);
  assert.equal(built.headers["content-encoding"], undefined);
  for (const answer of [built, await ask("/one/")]) {
    assert.match(policyOf(answer), /script-src 'self';/);
  }
});
