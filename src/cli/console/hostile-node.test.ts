import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { CONTROL_CHARACTERS } from "../../../test/support/base/telemetry/control-characters.ts";
import { escapeControlsInLines } from "../../base/telemetry/escape-controls.ts";
import { runConsole } from "./console.ts";

/** Answers of a node by method. */
type Answers = Readonly<Record<string, unknown>>;
type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

const folder = mkdtempSync(join(tmpdir(), "evmint-console-"));
after(() => rmSync(folder, { recursive: true }));

const method = (name: string, rest: object = {}) => ({ name, params: [], result: {}, ...rest });
const discover = (...methods: unknown[]) => ({ rpc_discover: { methods }, eth_chainId: "0x1" });

async function withServer<T>(server: Server, work: (port: number) => Promise<T>): Promise<T> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

/** Runs a console on a node that answers as `answers` has it; what it printed, and the calls that arrived. */
async function attach(
  answers: Answers,
  options: { readonly exec?: string; readonly lines?: string; readonly isTerminal?: boolean },
) {
  const calls: Call[] = [];
  const answer: RequestListener = async (request, response) => {
    const call = JSON.parse(await text(request)) as Call;
    calls.push(call);
    const known = answers[call.method];
    const body = known instanceof Error ? { error: known.cause } : { result: known ?? null };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...body }));
  };
  const server = createHttpServer(answer);
  const printed = await withServer(server, async (port) => {
    const output = Object.assign(new PassThrough(), { isTTY: options.isTerminal === true });
    const input = new PassThrough();
    input.end(options.lines ?? "");
    const [shown] = await Promise.all([
      text(output),
      runConsole({
        target: `http://127.0.0.1:${port}`,
        token: undefined,
        preload: undefined,
        exec: options.exec,
        historyPath: join(folder, "history"),
        input,
        output,
      }).finally(() => {
        output.end();
        server.closeAllConnections();
      }),
    ]);
    return shown;
  });
  return { printed, calls };
}

const KEY = "0x00000000000000000000000000000000000000000000000000000000000000ff";
const GLOBALS = ["console", "JSON", "process", "fetch", "Buffer", "Object", "globalThis", "fs"];
const OWN = ["viem", "help", "watch", "parseEther", "keccak256", "publicClient"];
const OBJECT_NAMES = [...Object.getOwnPropertyNames(Object.prototype), ...Object.getOwnPropertyNames(Object), "then"];

test("names of a node hide none of JavaScript, Node or the console, and change no object of the process", async () => {
  const before = new Map(OBJECT_NAMES.map((name) => [name, Reflect.get(Object, name)]));
  const names = [
    ...[...GLOBALS, ...OWN].flatMap((name) => [`${name}_log`, `${name}_stringify`, `${name}_x`]),
    ...OBJECT_NAMES.flatMap((name) => [`constructor_${name}`, `__proto___${name}`, `eth_${name}`]),
    "prototype_x",
    "_x",
    "__proto__",
    "toString_call",
    "rpc_name",
    "rpc_length",
    "rpc_call",
  ];
  const code = `
    console.log("${KEY}");
    JSON.stringify({ key: "${KEY}" });
    Object.keys({}); Object.assign({}, {}); await eth; await rpc;
    return [typeof console.log, typeof fs, Object.getPrototypeOf(eth), "toString" in eth]`;
  const node = discover(method("eth_blockNumber"), ...names.map((name) => method(name)));
  const { printed, calls } = await attach(node, { exec: code });
  assert.deepEqual(JSON.parse(printed.slice(printed.indexOf("["))), ["function", "undefined", null, false]);
  assert.deepEqual(
    calls.map((call) => call.method),
    ["rpc_discover", "eth_chainId"],
  );
  for (const [name, value] of before) assert.equal(Reflect.get(Object, name), value, name);
});

test("a method whose name the console does not take can be called by its whole name", async () => {
  const node = { ...discover(method("console_log")), console_log: "called" };
  assert.equal((await attach(node, { exec: `rpc("console_log")` })).printed, "called\n");
});

for (const [what, document] of Object.entries({
  "no document": null,
  "no list": { methods: {} },
  text: "methods",
})) {
  test(`a node that describes its methods by ${what} is an error of the connection`, async () => {
    const node = { rpc_discover: document, eth_chainId: "0x1" };
    await assert.rejects(attach(node, { exec: "1" }), { code: "CONSOLE_CONNECTION" });
  });
}

test("descriptions of another form than OpenRPC's are left out, however deep they are", async () => {
  let deep: object = { title: "QUANTITY" };
  for (let i = 0; i < 500; i++) deep = i % 2 ? { oneOf: [deep] } : { items: deep };
  const odd = [null, 1, "eth_x", [], {}, { name: 5 }, { name: "eth_a", params: 7, result: "x" }];
  const node = discover(
    ...odd,
    method("eth_b", { params: [null, { name: {}, schema: deep }], result: { schema: deep } }),
    method("eth_c", { params: [{ name: "o", schema: { properties: { constructor: deep } } }] }),
  );
  const exec = `
    await eth.b(1, 2, 3);
    await eth.c({ constructor: 1 });
    help(eth);
    return Object.keys(eth)`;
  const { printed } = await attach({ ...node, eth_b: "0x1" }, { exec });
  assert.ok(printed.endsWith(`${JSON.stringify(["a", "b", "c"], null, 2)}\n`));
});

test("a text that is no QUANTITY does not become a number", async () => {
  const quantity = { result: { schema: { title: "QUANTITY" } } };
  for (const answer of ["", " ", "0x", "12", "0b1", "-0x1", `0x${"f".repeat(65)}`]) {
    const node = { ...discover(method("eth_gasPrice", quantity)), eth_gasPrice: answer };
    const { printed } = await attach(node, { exec: "typeof await eth.gasPrice()" });
    assert.equal(printed, "string\n", answer);
  }
});

/** Every control character, each beside letters; a line feed or tab of a node cannot be told from ours. */
const HOSTILE = CONTROL_CHARACTERS.filter((each) => each !== "\n" && each !== "\t");
const SAID = HOSTILE.map((control) => `a${control}b`).join(" ");

/** A node that says it in each place where it can say something. */
function hostileNode(): Answers {
  const schema = { title: SAID.slice(0, 90), type: SAID.slice(90, 180) };
  const names = HOSTILE.map((control) => `a${control}b`);
  return {
    ...discover(
      method("eth_hostile", {
        params: names.slice(0, 32).map((name) => ({ name, schema: { title: name } })),
        result: { schema },
      }),
      ...names.map((name, index) => method(`eth_m${index}`, { result: { schema: { type: name } } })),
      ...names.map((name) => method(`eth_${name}`)),
      method("eth_fail"),
    ),
    web3_clientVersion: SAID,
    eth_hostile: { [SAID]: SAID, list: [SAID] },
    eth_text: SAID,
    eth_fail: new Error("", { cause: { code: 3, message: SAID, data: SAID } }),
  };
}

/** Everything that shows what a node said: values, names, signatures, errors of our own and of scripts. */
const LINES = [
  "eth",
  "eth.hostile",
  "help(eth)",
  "eth.hostile()",
  'rpc("eth_text")',
  "eth.fail()",
  'console.log(await rpc("eth_text"))',
  'console.error(await rpc("eth_hostile"))',
  'throw new Error(await rpc("eth_text"))',
  'throw await rpc("eth_text")',
  'Object.assign(() => {}, { [Symbol(await rpc("eth_text"))]: 1 })',
  '(class { static get [Symbol.toStringTag]() { return "x"; } })',
  'await (async () => { const said = await rpc("eth_text"); return new (class { get [Symbol.toStringTag]() { return said; } })(); })()',
];

test("no control character of a node reaches the output of the prompt, in whichever text it is", async () => {
  const { printed } = await attach(hostileNode(), { lines: `${LINES.join("\n")}\n` });
  assert.equal(printed, escapeControlsInLines(printed));
  assert.ok(printed.includes("eth.hostile(") && printed.includes("(3)"), printed);
});

test("--exec escapes for a terminal, and gives another program the bytes", async () => {
  const exec = 'await rpc("eth_text")';
  const { printed } = await attach(hostileNode(), { exec, isTerminal: true });
  assert.equal(printed, escapeControlsInLines(printed));
  const piped = await attach({ ...discover(), eth_text: "a\u009bb" }, { exec });
  assert.equal(piped.printed, "a\u009bb\n");
});

test("a history file with control characters is not written to the terminal", async () => {
  writeFileSync(join(folder, "history"), "old\u009b2J\nolder\u202eline\n");
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const server = createHttpServer(async (request, response) => {
    const { id, method: name } = JSON.parse(await text(request)) as Call;
    const result = discover(method("eth_x"))[name as "eth_chainId"] ?? null;
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const printed = await withServer(server, async (port) => {
    let shown = "";
    const ended = runConsole({
      target: `http://127.0.0.1:${port}`,
      token: undefined,
      preload: undefined,
      exec: undefined,
      historyPath: join(folder, "history"),
      input,
      output,
    });
    const isShown = async (part: string) => {
      for await (const chunk of output.iterator({ destroyOnReturn: false })) {
        shown += chunk;
        if (shown.includes(part)) break;
      }
    };
    await isShown("> ");
    input.write("\x1b[A");
    await isShown("old");
    input.write("\x1b[A");
    await isShown("older");
    input.write("\x15.exit\r");
    output.resume();
    await ended;
    server.closeAllConnections();
    return shown;
  });
  assert.ok(!printed.includes("\u009b") && !printed.includes("\u202e"));
});

for (const [what, answer] of Object.entries({
  nothing: "",
  "no JSON": "<html>",
  "a list": "[]",
  null: "null",
  "an error of another form": '{"id":1,"error":"no"}',
  "half a message": '{"id":1,',
})) {
  test(`a server that answers with ${what} is an error of the connection, over HTTP and a socket`, async () => {
    const options = {
      token: undefined,
      preload: undefined,
      exec: "1",
      historyPath: join(folder, "h"),
      input: new PassThrough(),
      output: new PassThrough(),
    };
    const http = createHttpServer((_, response) => response.end(answer));
    await withServer(http, async (port) => {
      const target = `http://127.0.0.1:${port}`;
      await assert.rejects(runConsole({ ...options, target }), { code: "CONSOLE_CONNECTION" });
      http.closeAllConnections();
    });
    const path = join(folder, "socket");
    const socket = createServer((connection) => {
      connection.once("data", () => connection.end(`${answer}\n`));
      connection.on("error", () => {});
    });
    socket.listen(path);
    await once(socket, "listening");
    await assert.rejects(runConsole({ ...options, target: path }), { code: "CONSOLE_CONNECTION" });
    socket.close();
  });
}

test("a redirect is not followed, and no text has the password of a URL", async () => {
  let redirected = 0;
  const other = createHttpServer((_, response) => {
    redirected++;
    response.end();
  });
  await withServer(other, async (otherPort) => {
    const location = `http://127.0.0.1:${otherPort}`;
    const node = createHttpServer((_, response) => response.writeHead(307, { location }).end());
    await withServer(node, async (port) => {
      const running = runConsole({
        target: `http://me:hunter2@127.0.0.1:${port}/KEY`,
        token: undefined,
        exec: "1",
        preload: undefined,
        historyPath: "",
        input: new PassThrough(),
        output: new PassThrough(),
      });
      await assert.rejects(running, (error: Error & { code: string }) => {
        assert.equal(error.code, "CONSOLE_CONNECTION");
        assert.doesNotMatch(`${error.message} ${error.stack}`, /hunter2|KEY/);
        return true;
      });
    });
  });
  assert.equal(redirected, 0);
});
