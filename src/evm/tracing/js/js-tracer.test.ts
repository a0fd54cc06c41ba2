import assert from "node:assert/strict";
import { test } from "node:test";
import { account, alice, allocWith, contract, testChain } from "../../../../test/support/evm/execution/factories.ts";
import { HOSTILE_EXPRESSIONS } from "../../../../test/support/evm/tracing/hostile-expressions.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hashFromBigint } from "../../../base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import type { CallArguments } from "../../execution/call/call-arguments.ts";
import { createEvm } from "../../machine/engine.ts";
import { textString } from "../json-writer.ts";
import { createTracers } from "../native-tracers.ts";
import { createTraceBudget } from "../trace-budget.ts";
import { traceCall } from "../trace-call.ts";

const tracers = createTracers({ scriptMemoryBytesMax: 32 * 2 ** 20 });
const evm = createEvm();
const caller = `0x${"ca".repeat(20)}` as Address;
const slot = hashFromBigint(1n);

/** Calls `contract` with a value of 1 and 4 bytes of input. */
const CALLS_CONTRACT: Hex = `0x5f5f60045f600173${contract.slice(2)}61fffff15f55`;

type Options = {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly args?: CallArguments;
  readonly timeoutMs?: number;
  readonly charsMax?: number;
};

/** @param code of `contract`, whose slot 1 holds 42 */
function trace(tracer: string, code: Hex = "0x", options: Options = {}) {
  const { config = {}, args = {}, timeoutMs = 3_600_000, charsMax = 1e6 } = options;
  const stored = { ...account({ nonce: 1n, code }), storage: new Map([[slot, 42n]]) };
  const { genesis, modules } = testChain(
    allocWith("0x", [
      [contract, stored],
      [caller, account({ nonce: 1n, balance: 9n, code: CALLS_CONTRACT })],
    ]),
  );
  const { header, state, blockHash } = genesis;
  const budget = createTraceBudget({ timeoutMs, charsMax });
  const text = traceCall(
    { from: alice, to: contract, ...args },
    { header, state, blockHash },
    { ...modules, evm },
    { budget, tracers, tracer, tracerConfig: config },
  );
  return JSON.parse(textString(text));
}

/** A tracer whose `step` collects `expression`, which may use log and db. */
const collect = (expression: string) =>
  `{ seen: [], step(log, db) { this.seen.push(${expression}) }, fault() {}, result() { return this.seen } }`;
/** A tracer whose result is `expression`, which may use ctx and db. */
const result = (expression: string) => `{ fault() {}, result(ctx, db) { return ${expression} } }`;

test("a script that cannot begin is what is wrong, also where the call cannot either", () => {
  for (const args of [{}, { gas: 1n }])
    assert.throws(() => trace("missing", "0x", { args }), { code: "TRACE_SCRIPT_FAILED" });
  assert.throws(() => trace(result("1"), "0x", { args: { gas: 1n } }), { code: "TRACE_FAILED" });
});

test("step sees the opcode, its gas and the stack", () => {
  const shown = collect(
    "[log.getPC(), log.op.toString(), log.op.toNumber(), log.op.isPush(), log.getCost(), log.getDepth(), log.stack.length()]",
  );
  assert.deepEqual(trace(shown, "0x600501"), [
    [0, "PUSH1", 0x60, true, 3, 1, 0],
    [2, "ADD", 0x01, false, 3, 1, 1],
  ]);
  assert.deepEqual(trace(collect("log.getGas()"), "0x5f5f"), [49_979_000, 49_978_998, 49_978_996]);
  const words = collect("log.stack.length() ? log.stack.peek(0) : null");
  assert.deepEqual(trace(words, `0x7f${"ff".repeat(32)}6007`), [null, (2n ** 256n - 1n).toString(), "7"]);
});

test("step sees memory, the contract and the state as they are", () => {
  const atEnd = (expression: string, code: Hex = "0x00") =>
    trace(collect(`log.op.toNumber() ? null : ${expression}`), code).at(-1);
  const stored: Hex = "0x60ff601f53";
  assert.equal(atEnd("log.memory.length()", stored), 32);
  assert.equal(atEnd("log.memory.getUint(0)", stored), "255");
  assert.equal(atEnd("toHex(log.memory.slice(30, 34))", stored), "0x00ff0000");
  assert.equal(atEnd("toHex(log.contract.getAddress())"), contract);
  assert.equal(atEnd("toHex(log.contract.getCaller())"), alice);
  const key = `toWord("0x1")`;
  assert.equal(atEnd(`toHex(db.getState(log.contract.getAddress(), ${key}))`, "0x60076001555f"), hashFromBigint(7n));
  assert.equal(atEnd(`db.getBalance(toAddress("${caller}"))`), "9");
  assert.equal(atEnd(`db.getNonce(toAddress("${caller}"))`), 1);
  assert.equal(atEnd(`toHex(db.getCode(toAddress("${caller}")))`), CALLS_CONTRACT);
  assert.equal(atEnd(`db.exists(toAddress("0xdead"))`), false);
});

test("enter and exit see the calls below the top", () => {
  const tracer = `{
    seen: [],
    enter(f) { this.seen.push([f.getType(), toHex(f.getFrom()), toHex(f.getTo()), toHex(f.getInput()), f.getGas(), f.getValue()]) },
    exit(r) { this.seen.push([r.getGasUsed(), toHex(r.getOutput()), r.getError()]) },
    fault() {}, result() { return this.seen } }`;
  const args = { to: caller };
  const [enter, exit] = trace(tracer, "0x60aa5f5260205ffd", { args });
  assert.deepEqual(enter, ["CALL", caller, contract, "0x00000000", 0xffff + 2300, "1"]);
  assert.deepEqual(exit, [16, hashFromBigint(0xaan), "execution reverted"]);
});

test("fault sees the opcode that failed, also in a frame inside, and a REVERT", () => {
  const tracer = `{ seen: [], fault(log) { this.seen.push([log.op.toString(), log.getError(), log.getDepth(), log.stack.length()]) },
    result() { return this.seen } }`;
  assert.deepEqual(trace(tracer, "0xfe"), [["INVALID", "invalid opcode: INVALID", 1, 0]]);
  assert.deepEqual(trace(tracer, "0x5f5ffd", { args: { to: caller } }), [["REVERT", "execution reverted", 2, 2]]);
  // What cannot be paid is a step with an error instead.
  assert.deepEqual(trace(tracer, "0x50"), []);
  assert.equal(trace(collect("log.getError()"), "0x50")[0], "stack underflow (0 <=> 1)");
});

test("setup has the configuration as text, result the transaction", () => {
  const tracer = `{ setup(config) { this.config = config }, fault() {}, result() { return JSON.parse(this.config) } }`;
  assert.deepEqual(trace(tracer, "0x", { config: { a: [1, "b"] } }), { a: [1, "b"] });
  const args = { data: Uint8Array.of(1, 2), gas: 50_000n, value: 0n };
  const shown = trace(
    result(
      "[ctx.type, toHex(ctx.from), toHex(ctx.to), toHex(ctx.input), toHex(ctx.output), ctx.gas, ctx.gasUsed, ctx.block, ctx.error]",
    ),
    "0x60aa5f5260015ffd",
    { args },
  );
  const { length } = shown;
  assert.equal(length, 9);
  assert.deepEqual(shown.slice(0, 6), ["CALL", alice, contract, "0x0102", "0x00", 50_000]);
  assert.deepEqual(shown.slice(7), [0, "execution reverted"]);
});

test("ctx.output has the code that a creation rejects", () => {
  const args = { to: null, data: hexToBytes("0x60ef5f5360015ff3") };
  assert.equal(trace(result("toHex(ctx.output)"), "0x", { args }), "0xef");
});

test("ctx.gasPrice is the tip, 0 for a call that pays less than the base fee", () => {
  assert.equal(trace(result("ctx.gasPrice")), "0");
});

test("the functions of geth's tracers are there", () => {
  const value = (expression: string) => trace(result(expression));
  assert.equal(value(`toHex(toWord("0x0a0b"))`), `0x${"0".repeat(60)}0a0b`);
  assert.equal(value("toHex(toAddress([1, 2]))"), `0x${"0".repeat(36)}0102`);
  // EIP-1014, its second example but one; a creation by nonce is of the same address in every client.
  assert.equal(
    value(`toHex(toContract2("0xdeadbeef00000000000000000000000000000000", "0x00", "0x00"))`),
    "0xb928f69bb1d91cd65274e3c79d8986362984fda3",
  );
  assert.equal(
    value(`toHex(toContract("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0", 0))`),
    "0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d",
  );
  assert.deepEqual(value(`[isPrecompiled(toAddress("0x1")), isPrecompiled(toAddress("0xffff"))]`), [true, false]);
  assert.equal(value("toHex(slice([1, 2, 3, 4], 1, 3))"), "0x0203");
});

test("bigInt calculates as BigInteger.js does", () => {
  const value = (expression: string) => trace(result(expression));
  const cases: readonly (readonly [string, unknown])[] = [
    ["bigInt(2).pow(200).add(1)", (2n ** 200n + 1n).toString()],
    ["bigInt('ff', 16)", "255"],
    ["(() => { try { return bigInt('0x10', 16) } catch (e) { return 'none' } })()", "none"],
    ["bigInt(-7).mod(3)", "-1"],
    ["bigInt(-7).divide(2)", "-3"],
    ["bigInt('1e3').toString(16)", "3e8"],
    ["bigInt(10).equals(10)", true],
    ["bigInt(10) + 5", 15],
    ["bigInt(3).modPow(200, 13)", (3n ** 200n % 13n).toString()],
    ["bigInt(3).modInv(11)", "4"],
    ["bigInt(97).isPrime()", true],
    ["bigInt.gcd(12, 18)", "6"],
    ["bigInt.lcm(4, 6)", "12"],
    ["bigInt.max(3, 9)", "9"],
    ["bigInt(255).toArray(16).value", [15, 15]],
    ["bigInt.fromArray([1, 2, 3], 10)", "123"],
    ["bigInt(5).compare(7)", -1],
    ["bigInt(1).shiftLeft(70).toString()", (1n << 70n).toString()],
    ["bigInt.isInstance(bigInt(1))", true],
    ["bigInt(5).over(2).times(3).minus(1).plus(2).next().prev()", "7"],
  ];
  for (const [expression, expected] of cases) {
    assert.deepEqual(value(expression), expected, expression);
  }
});

test("a value that is no tracer is rejected", () => {
  for (const tracer of [
    "nothing",
    "{",
    "{}",
    "{ result() {} }",
    "{ fault() {} }",
    "{ result() {}, fault() {}, enter() {} }",
    "{ result() {}, fault() {}, setup() { throw 1 } }",
    "null",
    "",
  ]) {
    assert.throws(() => trace(tracer), { code: "TRACE_SCRIPT_FAILED" }, tracer);
  }
});

test("a script that throws, or reaches outside what it may read, fails whatever it catches", () => {
  for (const expression of [
    "nothing",
    "log.stack.peek(0)",
    "log.stack.peek(-1)",
    "log.memory.getUint(0)",
    "log.memory.slice(4, 2)",
    "log.memory.slice(-1, 2)",
    "log.memory.slice(0, 1048577)",
    "db.getBalance('0x00')",
    "toHex('0x00')",
    "slice([1], 0, 2)",
    "(() => { try { log.stack.peek(0) } catch (e) {} })()",
  ]) {
    assert.throws(() => trace(collect(expression), "0x00"), { code: "TRACE_SCRIPT_FAILED" }, expression);
  }
});

test("a script sees nothing of the process, nor of the script before it", () => {
  const names = ["process", "require", "global", "fetch", "console", "std", "os", "setTimeout"];
  for (const name of names) assert.equal(trace(result(`typeof ${name}`)), "undefined");
  assert.equal(trace(result(`[].constructor.constructor("return typeof process")()`)), "undefined");
  trace(result("(globalThis.left = 1, Array.prototype.push = null, JSON.stringify = () => '}', 0)"));
  assert.deepEqual(trace(result("[typeof left, typeof [].push]")), ["undefined", "function"]);
});

test("a script that replaces built-in functions changes its own answer only", () => {
  const hostile = `(() => {
    for (const type of [Object, Function, Array, String, Uint8Array, Map, Set, BigInt]) {
      for (const name of Object.getOwnPropertyNames(type.prototype)) {
        try { if (name !== "constructor") type.prototype[name] = () => { throw 1 } } catch (e) {}
      }
    }
    JSON.stringify = () => '"},{';
    return { result() { return { a: 1 } }, fault() {} };
  })()`;
  try {
    assert.deepEqual(trace(hostile), { a: 1 });
  } catch (error) {
    assert.equal((error as { code?: string }).code, "TRACE_SCRIPT_FAILED");
  }
  assert.equal(trace("opcountTracer", "0x5f5f"), 3);
});

const BUDGET_MS = 100;

/** Most would run for hours; what each of them takes is measured by `npm run bench -- hostile-scripts`. */
test("a hostile script costs its caller an error, and the next script nothing", () => {
  trace("noopTracerLegacy");
  for (const where of [collect, result]) {
    for (const [name, expression] of HOSTILE_EXPRESSIONS) {
      assert.throws(
        () => trace(where(expression), "0x00", { timeoutMs: BUDGET_MS }),
        (error: { code?: string }) => error.code === "TRACE_TIMEOUT" || error.code === "TRACE_SCRIPT_FAILED",
        name,
      );
    }
  }
  assert.equal(trace("opcountTracer", "0x5f5f"), 3);
});

test("what result() returns may loop, throw or be large", () => {
  const endless = result("({ toJSON() { for (;;); } })");
  assert.throws(() => trace(endless, "0x", { timeoutMs: BUDGET_MS }), { code: "TRACE_TIMEOUT" });
  const circular = result("(() => { const a = {}; a.a = a; return a; })()");
  assert.throws(() => trace(circular), { code: "TRACE_SCRIPT_FAILED" });
  assert.throws(() => trace(result("NaN")), { code: "TRACE_SCRIPT_FAILED" });
  assert.throws(() => trace(result("'x'.repeat(5000)"), "0x", { charsMax: 1000 }), {
    code: "TRACE_TOO_LARGE",
  });
});

test("a step that loops ends at the deadline of the request", () => {
  const tracer = "{ step() {}, fault() {}, result() {} }";
  assert.throws(() => trace(tracer, "0x5b5f56", { timeoutMs: 50 }), { code: "TRACE_TIMEOUT" });
});

test("muxTracer takes scripts, and not without end", () => {
  const config = { opcountTracer: {}, noopTracer: null };
  assert.deepEqual(trace("muxTracer", "0x5f", { config }), { opcountTracer: 2, noopTracer: {} });
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [result(String(i)), {}] as const));
  assert.throws(() => trace("muxTracer", "0x", { config: many }), { code: "TRACE_INVALID_TRACER" });
  assert.equal(trace("opcountTracer", "0x5f"), 2);
});
