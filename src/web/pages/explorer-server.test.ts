import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, afterEach, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { sendHttp } from "../../../test/support/rpc/rpc-client.ts";
import { parseRemoteUrl } from "../../base/telemetry/remote-url.ts";
import { METHODS } from "../../rpc/methods/methods.ts";
import { FORWARDED_METHODS } from "../explorer/page-methods.ts";
import { type ExplorerServer, startExplorerServer } from "./explorer-server.ts";

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x7"}';
const callOf = (method: string, params: unknown = []) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const CALL = callOf("eth_chainId");

const errors: unknown[] = [];
/** Bodies that have reached the node. */
const reached: string[] = [];
let answerAs: RequestListener | undefined;
let node: Server;
let explorer: ExplorerServer;

function startBeside(url: string): Promise<ExplorerServer> {
  const remote = parseRemoteUrl(url, ["http"])!;
  const onError = (error: unknown) => errors.push(error);
  return startExplorerServer({ remote, host: "127.0.0.1", port: 0, pages: new Map(), onError });
}

const nodePort = () => (node.address() as AddressInfo).port;

before(async () => {
  node = createServer(async (request, response) => {
    reached.push(await text(request));
    if (answerAs) answerAs(request, response);
    else response.end(ANSWER);
  }).listen(0, "127.0.0.1");
  await once(node, "listening");
  explorer = await startBeside(`http://127.0.0.1:${nodePort()}`);
});
afterEach(() => {
  errors.length = 0;
  reached.length = 0;
  answerAs = undefined;
});
after(async () => {
  await explorer.close();
  node.closeAllConnections();
  node.close();
});

const root = () => new URL("/", explorer.url).href;

test("the explorer's server forwards calls of its own pages to the node", async () => {
  const { status, json } = await sendHttp(root(), CALL, { origin: new URL(root()).origin });
  assert.deepEqual([status, json?.result], [200, "0x7"]);
});

test("the explorer's server leads addresses of other explorers to its pages", async () => {
  const route = `/address/0x${"Ab".repeat(20)}`;
  for (const path of [route, `/explorer${route}`]) {
    const { status, headers } = await fetch(new URL(path, root()), { redirect: "manual" });
    assert.deepEqual([status, headers.get("location")], [302, `/explorer/#${route}`]);
  }
});

test("the explorer's server rejects calls of other pages, and requests under another name", async () => {
  for (const headers of [
    { origin: "http://evil.example" },
    { origin: "null" },
    { host: "evil.example" },
    { host: "localhost.", origin: "http://localhost." },
  ]) {
    assert.equal((await sendHttp(root(), CALL, headers)).status, 403);
  }
  assert.deepEqual(reached, []);
});

test("the explorer's server rejects what a page can send without asking first", async () => {
  for (const type of ["text/plain", "", "application/x-www-form-urlencoded", "text/json"]) {
    assert.equal((await sendHttp(root(), CALL, { "content-type": type })).status, 415, type);
  }
  assert.deepEqual(reached, []);
});

test("every method of the node but those of the pages is rejected, alone and in a batch", async () => {
  const forwarded: ReadonlySet<string> = new Set(FORWARDED_METHODS);
  const others = METHODS.map(({ name }) => name).filter((name) => !forwarded.has(name));
  const made = ["ETH_CALL", "eth_call ", "", "__proto__", "evm_mine", "hardhat_setBalance"];
  for (const method of [...others, ...made]) {
    for (const body of [callOf(method), `[${CALL},${callOf(method)}]`]) {
      const { json } = await sendHttp(root(), body);
      assert.equal(json.error.code, -32601, method);
    }
  }
  assert.deepEqual(reached, []);
  assert.ok(others.includes("eth_sendTransaction") && others.includes("admin_datadir"));
});

test("methods of the pages that could change or sign anything do not exist", () => {
  const known = new Map(METHODS.map((method) => [method.name, method]));
  for (const name of FORWARDED_METHODS) {
    assert.doesNotMatch(name, /_(send|sign|set|submit)|^(personal|admin|miner)_/);
    assert.notEqual(known.get(name)?.isPrivate, true, name);
  }
});

test("what the node reads is what was checked", async () => {
  const twice = '{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","method":"eth_chainId"}';
  await sendHttp(root(), twice);
  assert.deepEqual(
    reached.map((body) => JSON.parse(body).method),
    ["eth_chainId"],
  );
  assert.ok(!reached.join().includes("eth_sendTransaction"));
  const hidden = `{"id":1,"method":"eth_chainId","params":[],"METHOD":"eth_sendTransaction"}`;
  await sendHttp(root(), hidden);
  assert.ok(!reached.join().includes("eth_sendTransaction"));
});

const DEEP = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;

for (const [what, body] of Object.entries({
  nothing: "",
  "no JSON": "{",
  "an empty batch": "[]",
  "a large batch": `[${Array(101).fill(CALL).join()}]`,
  "a number": "1",
  null: "null",
  "a call without id": '{"method":"eth_chainId"}',
  "params that are no list": callOf("eth_chainId", {}),
  "params in params without end": `{"id":1,"method":"eth_call","params":${DEEP}}`,
  "a script as a tracer": callOf("debug_traceTransaction", ["0x1", { tracer: "{}" }]),
  "no tracer": callOf("debug_traceTransaction", ["0x1"]),
})) {
  test(`the explorer's server answers a body with ${what} itself`, async () => {
    const { status, json } = await sendHttp(root(), body);
    assert.deepEqual([status, typeof json.error.code], [200, "number"]);
    assert.deepEqual([reached, errors], [[], []]);
  });
}

test("the explorer's server rejects a body that no node takes, and paths it does not have", async () => {
  const large = await fetch(root(), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "x".repeat(6 * 1024 * 1024),
  }).catch(() => undefined);
  // The answer may be lost with the connection, which is closed over the unread rest.
  if (large !== undefined) assert.equal(large.status, 413);
  assert.equal((await fetch(new URL("/x", root()))).status, 404);
});

test("an answer without end is passed on in pieces, cut, and reported", async () => {
  const piece = Buffer.alloc(1024 * 1024, " ");
  let sent = 0;
  answerAs = (_, response) => {
    const more = () => {
      while (!response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) break;
      }
    };
    response.on("drain", more);
    more();
  };
  await assert.rejects(sendHttp(root(), CALL));
  assert.equal((errors[0] as { code: string }).code, "EXPLORER_UNUSABLE_ANSWER");
  assert.ok(sent < 128 * 1024 * 1024, `${sent} bytes`);
});

test("an answer that is packed is not unpacked, and a redirect not followed", async () => {
  const packed = gzipSync(Buffer.alloc(1024 * 1024));
  let asked: string | undefined;
  answerAs = ({ headers }, response) => {
    asked = headers["accept-encoding"] as string;
    response.setHeader("content-encoding", "gzip").end(packed);
  };
  assert.equal((await sendHttp(root(), CALL)).status, 502);
  assert.equal(asked, "identity");
  reached.length = 0;
  answerAs = (_, response) => response.writeHead(307, { location: `http://127.0.0.1:${nodePort()}/other` }).end();
  assert.equal((await sendHttp(root(), CALL)).status, 502);
  assert.equal(reached.length, 1);
});

test("user and password of the node's URL reach the node as a header, and no text", async () => {
  let authorization: string | undefined;
  answerAs = ({ headers }, response) => {
    authorization = headers.authorization;
    response.destroy();
  };
  const beside = await startBeside(`http://me:hunter2@127.0.0.1:${nodePort()}/KEY`);
  try {
    assert.equal((await sendHttp(new URL("/", beside.url).href, CALL)).status, 502);
    assert.equal(authorization, `Basic ${Buffer.from("me:hunter2").toString("base64")}`);
    const shown = errors.map((error) => `${(error as Error).stack} ${(error as Error).cause}`);
    assert.equal(shown.length, 1);
    assert.doesNotMatch(shown.join(), /hunter2|KEY/);
  } finally {
    await beside.close();
  }
});

test("the explorer's server answers 502 where the node cannot be reached, and reports it", async () => {
  const lost = await startBeside("http://127.0.0.1:1");
  try {
    const answer = await sendHttp(new URL("/", lost.url).href, CALL);
    assert.equal(answer.status, 502);
    assert.equal(errors.length, 1);
  } finally {
    await lost.close();
  }
});
