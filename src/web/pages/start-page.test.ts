import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createStartPage, type StartPageOptions } from "./start-page.ts";

const ALL: StartPageOptions = {
  isDev: true,
  chainId: 31337n,
};

/** Status, headers and body of a GET; status 404 where the page has no answer. */
async function get(path: string, headers: Record<string, string>, options = ALL) {
  const answer = createStartPage(options);
  const server = createServer((incoming, response) => {
    if (!answer(incoming, response)) response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const sent = request({ port, path, headers }).end();
    const [response] = await once(sent, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
  } finally {
    server.close();
  }
}

const BROWSER = { accept: "text/html,*/*", host: "localhost:8545" };

test("a browser gets a page with the URL, the chain id and links; a probe gets none", async () => {
  const { status, headers, body } = await get("/", BROWSER);
  assert.equal(status, 200);
  for (const text of ["http://localhost:8545", "31337", 'href="/explorer/"', 'href="/docs/"', "/api/"]) {
    assert.ok(body.includes(text), text);
  }
  const style = /<style>(.*)<\/style>/s.exec(body)![1]!;
  const hash = createHash("sha256").update(style).digest("base64");
  assert.ok(String(headers["content-security-policy"]).includes(`'sha256-${hash}'`));
  assert.equal((await get("/", { host: "localhost" })).status, 404);
});

test("a page of a chain that is no dev chain does not offer what only dev chains have", async () => {
  const { body } = await get("/", BROWSER, { ...ALL, isDev: false });
  assert.ok(!body.includes("/explorer/#/dev"));
});

test("the name of the host is text, whatever it is", async () => {
  const { body } = await get("/", { ...BROWSER, host: '<script>"&x' });
  assert.ok(!body.includes("<script>"));
});

test("addresses of other explorers lead to this one, and nothing else does", async () => {
  for (const path of [`/tx/0x${"1a".repeat(32)}`, `/address/0x${"Ab".repeat(20)}`, "/block/12"]) {
    const { status, headers } = await get(path, BROWSER);
    assert.deepEqual([status, headers.location], [302, `/explorer/#${path}`]);
    assert.equal((await get(`/explorer${path}`, BROWSER)).headers.location, `/explorer/#${path}`);
  }
  for (const path of ["/tx/0x12", "/address/vitalik.eth", "/block/-1", `/tx/0x${"11".repeat(32)}/x`]) {
    assert.equal((await get(path, BROWSER)).status, 404);
  }
});
