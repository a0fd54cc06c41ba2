import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { TEST_REGISTRY } from "../../../../test/support/rpc/test-methods.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { type Credential, OWNER } from "../auth/credential.ts";
import { string } from "../codec.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../limits.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { inProcessContext, RequestContext, type Transport } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { createRegistry, defineMethod } from "./method.ts";
import { type RpcObserver, SILENT_OBSERVER } from "./observer.ts";

type Setup = {
  readonly limits?: Partial<RpcLimits>;
  readonly transport?: Transport;
  readonly isOpen?: boolean;
  readonly credential?: Credential;
  readonly deniedMethods?: ReadonlySet<string>;
  readonly namespaces?: readonly string[];
  readonly observer?: RpcObserver;
  readonly output?: MemoryBudget;
};

async function reply(body: string | Buffer, setup: Setup = {}) {
  const dispatcher = new Dispatcher(
    {
      limits: { ...DEFAULT_RPC_LIMITS, ...setup.limits },
      observer: setup.observer ?? SILENT_OBSERVER,
      ...(setup.output && { output: setup.output }),
    },
    { registry: TEST_REGISTRY, modules: {}, timers: fatalTimers },
  );
  const context = new RequestContext({
    transport: setup.transport ?? "http",
    access: {
      namespaces: new Set(setup.namespaces ?? ["test"]),
      isOpen: setup.isOpen ?? false,
      ...(setup.deniedMethods && { deniedMethods: setup.deniedMethods }),
    },
    credential: setup.credential,
    connection: undefined,
  });
  return dispatcher.dispatch(Buffer.from(body), context);
}

async function answer(body: string | Buffer, setup?: Setup): Promise<string | undefined> {
  const done = await reply(body, setup);
  return done && Buffer.concat(done.parts.map((part) => Buffer.from(part))).toString();
}

async function answerJson(body: unknown, setup?: Setup) {
  const text = await answer(JSON.stringify(body), setup);
  return text === undefined ? undefined : JSON.parse(text);
}

const call = (id: unknown, method: string, ...params: unknown[]) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

async function codeOf(body: string, setup?: Setup): Promise<number> {
  return JSON.parse((await answer(body, setup)) ?? "{}").error?.code;
}

test("a call is answered with its result under its id", async () => {
  assert.equal(
    await answer('{"jsonrpc":"2.0","id":7,"method":"test_add","params":["0x1","0xff"]}'),
    '{"jsonrpc":"2.0","id":7,"result":"0x100"}',
  );
});

test("ids come back byte for byte, whatever JSON.parse would make of them", async () => {
  for (const id of [
    "0",
    "7",
    "999999999",
    "1000000000",
    "-0",
    "1.0",
    "1e400",
    "9007199254740993",
    '"a\\u0062"',
    '""',
    "null",
    "true",
  ]) {
    for (const member of [`"id":${id}`, `"id": ${id} `]) {
      assert.equal(
        await answer(`{${member},"jsonrpc":"2.0","method":"test_echo","params":[[{"id":5}]]}`),
        `{"jsonrpc":"2.0","id":${id},"result":[{"id":5}]}`,
      );
    }
  }
});

test("the length of an answer in bytes is known for a result of ASCII, under any id", async () => {
  const length = fc.nat({ max: 3000 });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 40 }), length, async (id, letters) => {
      const body = JSON.stringify(call(id, "test_ascii", `0x${letters.toString(16)}`));
      const done = await reply(body);
      const bytes = Buffer.concat(done!.parts.map((part) => Buffer.from(part)));
      assert.equal(done!.byteLength, bytes.length);
      assert.equal(JSON.parse(bytes.toString()).result.length, letters);
    }),
  );
});

test("ids of a batch come back byte for byte", async () => {
  const one = (id: string) => `{"jsonrpc":"2.0","method":"test_echo","params":["a,]}"],"id":${id}}`;
  assert.equal(
    await answer(`[ ${one("1.50")}, 5, ${one('"x"')} ]`),
    '[{"jsonrpc":"2.0","id":1.50,"result":"a,]}"},' +
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}},' +
      '{"jsonrpc":"2.0","id":"x","result":"a,]}"}]',
  );
});

test("an id that is an object, an array or very long makes the request invalid", async () => {
  for (const id of ["{}", "[1]", `"${"x".repeat(2000)}"`]) {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"test_echo","params":[1]}`;
    assert.deepEqual(JSON.parse((await answer(body)) ?? ""), {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "invalid request" },
    });
  }
});

test("params may be absent, null or a list, and nothing else", async () => {
  assert.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"test_crash"}'), -32603);
  assert.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"test_crash","params":null}'), -32603);
  assert.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"test_crash","params":{}}'), -32602);
  assert.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"test_crash","params":[1]}'), -32602);
  assert.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"test_echo","params":[]}'), -32602);
});

test("unknown members are ignored, and so are known ones in other letter case", async () => {
  assert.equal(
    await answer('{"jsonrpc":"2.0","id":3,"method":"test_echo","params":[1],"toString":1,"Id":4,"METHOD":"no_such"}'),
    '{"jsonrpc":"2.0","id":3,"result":1}',
  );
  assert.equal(await codeOf('{"JSONRPC":"2.0","Id":3,"METHOD":"test_echo","Params":[1]}'), -32600);
});

test("what is no call is an invalid request", async () => {
  for (const body of [
    "null",
    "5",
    '"text"',
    "{}",
    '{"jsonrpc":"1.0","id":1,"method":"test_echo","params":[1]}',
    '{"id":1,"method":"test_echo","params":[1]}',
    '{"jsonrpc":"2.0","id":1,"method":5}',
    '{"jsonrpc":"2.0","id":1,"method":""}',
  ]) {
    assert.equal(await codeOf(body), -32600, body);
  }
});

test("the version may be left out over WebSocket, but not be wrong", async () => {
  const ws = { transport: "ws" } as const;
  assert.equal(await codeOf('{"id":1,"method":"test_echo","params":[1]}', ws), undefined);
  assert.equal(await codeOf('{"jsonrpc":"1.0","id":1,"method":"test_echo","params":[1]}', ws), -32600);
});

test("what is no JSON is a parse error", async () => {
  for (const body of ["{", "[1,", '{"a":}', "nul", "\u0000", '{"jsonrpc":"2.0","id":"']) {
    assert.equal(await codeOf(body), -32700, JSON.stringify(body));
    assert.equal((await reply(body))?.isParseError, true);
  }
});

test("a body is one value: a second one, or anything else after it, is a parse error and runs nothing", async () => {
  const one = '{"jsonrpc":"2.0","id":1,"method":"test_echo","params":[1]}';
  for (const body of [one, `[${one}]`, one.replace(":1,", ": 1,")]) {
    for (const blanks of ["", " ", "\r\n\t "]) assert.ok((await answer(body + blanks))?.includes('"result":1'), body);
    for (const rest of [one, " trailing", "\0", "]", "}", ",", ` ${one}`, "1", "null"]) {
      for (const transport of ["http", "ws"] as const)
        assert.equal(await codeOf(body + rest, { transport }), -32700, rest);
    }
  }
});

test("nothing is answered to an empty body, a notification or a response", async () => {
  assert.equal(await answer(""), undefined);
  assert.equal(await answer(" \n"), undefined);
  assert.equal(await answerJson({ jsonrpc: "2.0", method: "test_echo", params: [1] }), undefined);
  assert.equal(await answerJson({ jsonrpc: "2.0", method: "no_such" }), undefined);
  assert.equal(await answerJson({ jsonrpc: "2.0", id: 1, result: 5 }), undefined);
  assert.equal(await answerJson({ jsonrpc: "2.0", id: 1, result: null }), undefined);
  assert.equal(await answerJson({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } }), undefined);
  assert.equal(await codeOf('{"jsonrpc":"2.0","id":1,"error":null}'), -32600);
  assert.equal(await answerJson([{ jsonrpc: "2.0", method: "test_echo", params: [1] }]), undefined);
});

test("a method that is unknown, of another namespace or named like a member of Object is not found", async () => {
  for (const method of ["test_nothing", "test", "_", "__proto__", "constructor", "toString_", "a_b"]) {
    assert.equal((await answerJson(call(1, method))).error.code, -32601, method);
  }
  assert.equal((await answerJson(call(1, "test_echo", 1), { namespaces: ["eth"] })).error.code, -32601);
  assert.equal((await answerJson(call(1, `test_${"x".repeat(3000)}`))).error.code, -32600);
});

test("a bug in a handler is -32603 without details, and reported", async () => {
  const crashes: string[] = [];
  const observer = { ...SILENT_OBSERVER, failed: (method: string) => void crashes.push(method) };
  const { error } = await answerJson(call(1, "test_crash"), { observer });
  assert.deepEqual(error, { code: -32603, message: "method handler crashed" });
  assert.deepEqual(crashes, ["test_crash"]);
});

test("text of any depth, cut or whole, is an error on every transport and nothing is thrown", async () => {
  for (const transport of ["http", "ws", "ipc"] as const) {
    for (const open of ["[", '{"a":', '[{"a":', '{"jsonrpc":"2.0","id":1,"method":"test_echo","params":[']) {
      for (const depth of [100, 20_000, 400_000]) {
        for (const prefix of ["", " ", "1 ", '"', "]", "[],"]) {
          const code = JSON.parse((await answer(prefix + open.repeat(depth), { transport }))!).error.code;
          assert.ok(code === -32600 || code === -32700, `${transport} ${prefix}${open} ${depth}: ${code}`);
        }
      }
    }
  }
});

test("a bug in what reads bodies is -32603, and reported, as one of a method", async () => {
  const failures: unknown[] = [];
  const observer: RpcObserver = {
    ...SILENT_OBSERVER,
    rejected() {
      throw new RangeError("Maximum call stack size exceeded");
    },
    failed: (_method, fault) => void failures.push(fault),
  };
  for (const body of ["{", `"${"x".repeat(1 << 20)}`]) {
    assert.equal(JSON.parse((await answer(body, { observer, transport: "ws" }))!).error.code, -32603);
  }
  assert.deepEqual(failures, ["internal", "internal"]);
});

test("a private method wants the credential unless the listener is open", async () => {
  const request = call(1, "test_private");
  const refused = await reply(JSON.stringify(request));
  assert.equal(refused?.isUnauthorized, true);
  assert.equal((await answerJson(request)).error.code, -32001);
  assert.equal((await answerJson([request]))[0].error.code, -32001);
  assert.equal((await answerJson(request, { transport: "ws" })).error.code, -32001);
  assert.equal((await answerJson(request, { isOpen: true })).result, "secret");
  assert.equal((await answerJson(request, { credential: OWNER })).result, "secret");
});

test("a credential opens only its namespaces, and only until it expires", async () => {
  const request = call(1, "test_private");
  const codeWith = async (namespaces: readonly string[], isExpired: boolean) => {
    const credential = { namespaces: new Set(namespaces), isExpired: () => isExpired };
    return (await answerJson(request, { credential })).error?.code;
  };
  assert.equal(await codeWith(["test"], false), undefined);
  assert.equal(await codeWith(["other"], false), -32001);
  assert.equal(await codeWith(["test"], true), -32001);
});

test("a refused method is not found, whoever asks", async () => {
  const deniedMethods = new Set(["test_private", "test_echo"]);
  for (const method of deniedMethods) {
    for (const setup of [{ deniedMethods }, { deniedMethods, credential: OWNER }]) {
      const done = await reply(JSON.stringify(call(1, method)), setup);
      assert.equal(done?.isUnauthorized, false);
      assert.equal((await answerJson(call(1, method), setup)).error.code, -32601);
    }
  }
  assert.equal((await answerJson(call(1, "test_add", "0x1", "0x2"), { deniedMethods })).result, "0x3");
});

test("a private method of a namespace that is off is not found, with or without the credential", async () => {
  for (const known of [{}, { credential: OWNER }]) {
    const setup = { namespaces: ["eth"], ...known };
    const done = await reply(JSON.stringify(call(1, "test_private")), setup);
    assert.equal(done?.isUnauthorized, false);
    assert.equal((await answerJson(call(1, "test_private"), setup)).error.code, -32601);
  }
});

test("a method that notifies is refused where there is no connection", async () => {
  assert.equal((await answerJson(call(1, "test_notify", "0x1", "x"))).error.code, -32601);
});

test("an empty batch is one error object", async () => {
  assert.deepEqual(await answerJson([]), {
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, message: "empty batch" },
  });
});

test("a batch beyond the limit is one error in a list, under the first call's id", async () => {
  const batch = [{ jsonrpc: "2.0", method: "test_echo" }, ...Array(3).fill(call(9, "test_echo", 1))];
  assert.deepEqual(await answerJson(batch, { limits: { batchItemsMax: 3 } }), [
    { jsonrpc: "2.0", id: 9, error: { code: -32600, message: "batch too large" } },
  ]);
});

test("long results and long batches are encoded before they are written, in pieces", async () => {
  const long = call(1, "test_echo", "x".repeat(3 << 20));
  const short = call(1, "test_echo", "x".repeat(200 << 10));
  for (const body of [long, [short, long], Array(20).fill(short)]) {
    const done = await reply(JSON.stringify(body));
    const text = Buffer.concat(done!.parts.map((part) => Buffer.from(part))).toString();
    assert.deepEqual(
      [JSON.parse(text)].flat().map(({ result }) => result.length),
      [body].flat().map(({ params }) => params[0].length),
    );
    for (const part of done!.parts) assert.ok(part.length < 512 << 10, `${typeof part} of ${part.length}`);
    for (const part of done!.parts) assert.ok(typeof part !== "string" || part.length <= 256 << 10);
  }
});

test("once the answers of a batch pass the byte limit the rest is not run", async () => {
  const batch = [1, 2, 3, 4].map((id) => call(id, "test_big", "0x64"));
  const answers = await answerJson(batch, { limits: { batchResponseBytesMax: 150 } });
  assert.deepEqual(
    answers.map((item: { error?: { code: number } }) => item.error?.code),
    [undefined, undefined, -32003, -32003],
  );
});

test("answers of batches that still run are bounded together: the largest ends with one error", async () => {
  const output = new MemoryBudget(1_000_000);
  const reasons: string[] = [];
  const observer = {
    ...SILENT_OBSERVER,
    rejected: (_transport: string, reason: string) => void reasons.push(reason),
  };
  const setup = { output, observer };
  const batch = (items: number) => Array.from({ length: items }, (_, id) => call(id + 5, "test_big", "0x186a0"));
  assert.equal((await answerJson(batch(8), setup)).length, 8);
  assert.deepEqual(reasons, []);

  let held = 0;
  const other = output.open(() => {
    held = 0;
  });
  held = 500_000;
  other.set(held);
  const [rejected] = await answerJson(batch(8), setup);
  assert.equal(rejected.id, 5);
  assert.equal(rejected.error.code, -32005);
  assert.deepEqual(reasons, ["outputMemory"]);
  assert.equal(held, 500_000, "the smaller one stays");
  assert.equal((await answerJson(batch(4), setup)).length, 4);
  assert.equal(output.bytes, held);
});

test("large bodies that arrive together are read one after the other in several turns, and charged once they are", async () => {
  const keys = Array.from({ length: 150_000 }, (_, i) => `"k${i}":${i}`);
  const body = Buffer.from(`{${keys.join(",")}}`);
  const dispatcher = new Dispatcher(
    { limits: { ...DEFAULT_RPC_LIMITS, jsonItemsMax: 1_000_000 }, observer: SILENT_OBSERVER },
    { registry: TEST_REGISTRY, modules: {}, timers: fatalTimers },
  );
  const contexts = Array.from({ length: 5 }, () => inProcessContext(["test"]));
  let answered = 0;
  const all = contexts.map(async (context) => {
    const reply = dispatcher.dispatch(body, context);
    assert.ok(reply instanceof Promise);
    assert.equal(context.inputBytes, body.length);
    let added = 0;
    context.onInputBytes = (change) => {
      added += change;
    };
    assert.match(String((await reply)?.parts[0]), /"code":-32600/);
    assert.ok(added > 0, "the parsed values");
    answered++;
  });
  const seen: number[] = [];
  while (answered < all.length) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(answered);
  }
  await Promise.all(all);
  for (const [i, count] of seen.entries()) {
    assert.ok(count - (seen[i - 1] ?? 0) <= 1, `answered after each turn: ${seen}`);
  }
  assert.ok(seen.length > 2 * all.length, `turns: ${seen.length}`);
});

test("calls that take too long over HTTP get -32002, each call of a batch that is still open too", async () => {
  const setup = { limits: { httpCallTimeoutMs: 20 } };
  assert.equal((await answerJson(call(1, "test_never"), setup)).error.code, -32002);
  const answers = await answerJson([call(1, "test_echo", 1), call(2, "test_never"), call(3, "test_echo", 1)], setup);
  assert.deepEqual(
    answers.map((item: { error?: { code: number } }) => item.error?.code),
    [undefined, -32002, -32002],
  );
});

test("deep nesting and too many items are refused before they are parsed", async () => {
  const deep = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"test_echo","params":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  assert.equal(await codeOf(deep(63)), undefined);
  for (const levels of [64, 100_000, 5_000_000]) assert.equal(await codeOf(deep(levels)), -32600);
  assert.equal(await codeOf("[".repeat(5_000_000)), -32600);
  assert.equal(await codeOf(`[${'{"a":1},'.repeat(500_000)}1]`), -32600);
  const params = (text: string) => codeOf(`{"jsonrpc":"2.0","id":1,"method":"test_echo","params":[${text}]}`);
  const members = (count: number) => params(`{${Array.from({ length: count }, (_, i) => `"${i}":1`).join(",")}}`);
  assert.equal(await params(`[${Array(190_000).fill("1").join(",")}]`), undefined);
  assert.equal(await members(49_000), undefined);
  assert.equal(await members(51_000), -32600);
});

test("every call is counted with its code, unknown names under one label", async () => {
  const ended: [string, number][] = [];
  const observer = {
    ...SILENT_OBSERVER,
    callEnded: (method: string, code: number) => void ended.push([method, code]),
  };
  await answerJson([call(1, "test_echo", 1), call(2, "x_\u0000y"), call(3, "test_reject")], {
    observer,
  });
  assert.deepEqual(ended, [
    ["test_echo", 0],
    ["unknown", -32601],
    ["test_reject", -32600],
  ]);
});

test("any bytes get a well-formed answer or none", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      assertWellFormed(await answer(Buffer.from(bytes)));
    }),
    { numRuns: 1000 },
  );
});

test("any JSON gets a well-formed answer or none", async () => {
  const messageLike = fc.record(
    {
      jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant("2.0") }, fc.jsonValue()),
      id: fc.jsonValue(),
      method: fc.oneof(fc.constantFrom("test_echo", "test_add", "test_private", "rpc_x"), fc.string()),
      params: fc.oneof(fc.array(fc.jsonValue(), { maxLength: 3 }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(messageLike, fc.array(messageLike, { maxLength: 5 }), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom<Transport>("http", "ws", "ipc"), async (value, transport) => {
      assertWellFormed(await answer(JSON.stringify(value), { transport }));
    }),
    { numRuns: 2000 },
  );
});

test("a mutated request gets a well-formed answer or none", async () => {
  const good = '[{"jsonrpc":"2.0","id":"\\"1","method":"test_echo","params":["0x1",{"id":[2]}]}]';
  const mutation = fc.tuple(fc.nat(good.length), fc.nat(3), fc.string({ maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
      let text = good;
      for (const [at, cut, put] of mutations) text = text.slice(0, at) + put + text.slice(at + cut);
      assertWellFormed(await answer(text));
    }),
    { numRuns: 2000 },
  );
});

function assertWellFormed(text: string | undefined): void {
  if (text === undefined) return;
  const parsed = JSON.parse(text);
  for (const item of Array.isArray(parsed) ? parsed : [parsed]) {
    assert.equal(item.jsonrpc, "2.0");
    assert.ok("id" in item && (typeof item.id !== "object" || item.id === null));
    assert.notEqual("result" in item, "error" in item);
    if (item.error) {
      assert.ok(Number.isInteger(item.error.code) && typeof item.error.message === "string");
      assert.notEqual(item.error.code, -32603);
    }
  }
}

test("a call of a batch that admission defers runs with its own span", async () => {
  const seen: unknown[] = [];
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const observed = defineMethod({
    name: "test_observed",
    params: { name: string },
    result: string,
    async handle({ name }, _modules, context) {
      await turn();
      seen.push([name, context.span?.traceparent]);
      return name;
    },
  });
  const ended: string[] = [];
  let spans = 0;
  const traceCall = () => {
    const traceparent = `span ${++spans}`;
    return { traceparent, describe() {}, end: () => void ended.push(traceparent) };
  };
  const dispatcher = new Dispatcher(
    { limits: DEFAULT_RPC_LIMITS, observer: { ...SILENT_OBSERVER, traceCall } },
    {
      registry: createRegistry([observed]),
      modules: {},
      timers: fatalTimers,
      admission: {
        async run(_context, start) {
          for (let i = 0; i < 3; i++) await turn();
          return start((work) => work());
        },
      },
    },
  );
  const batch = ["a", "b", "c"].map((name, id) => call(id, "test_observed", name));
  await dispatcher.dispatch(Buffer.from(JSON.stringify(batch)), inProcessContext(["test"]));
  assert.deepEqual(seen, [
    ["a", "span 1"],
    ["b", "span 2"],
    ["c", "span 3"],
  ]);
  assert.deepEqual(ended, ["span 1", "span 2", "span 3"]);
});
