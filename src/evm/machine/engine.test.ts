import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import type { Evm, ExecuteOptions, Message } from "./evm.ts";
import type { FrameEnd, FrameStart, Step, Tracer } from "./tracer.ts";

const alice = `0x${"aa".repeat(20)}` as Address;
const contract = `0x${"cc".repeat(20)}` as Address;
const other = `0x${"dd".repeat(20)}` as Address;
const GAS = 1_000_000n;
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as Address;

const evm = createEvm();

const block = (hardfork: Hardfork) =>
  testBlock({
    hardfork,
    number: 300,
    blockHash: (number) => hashFromBigint(BigInt(number)),
  });

type Setup = {
  readonly code: string;
  readonly other?: string;
  readonly hardfork?: Hardfork;
  readonly message?: Partial<Message>;
  readonly options?: ExecuteOptions;
  readonly engine?: Evm;
};

function run({ code, other: otherCode = "", hardfork = "osaka", message, options, engine = evm }: Setup) {
  const state = createWorldState(createMemoryState());
  const noCode = state.putCode(EMPTY_BYTES);
  const put = (text: string) => state.putCode(hexToBytes(`0x${text.replaceAll(" ", "")}`));
  state.setAccount(alice, { nonce: 1n, balance: 10n ** 18n, codeHash: noCode });
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash: put(code) });
  state.setAccount(other, { nonce: 1n, balance: 0n, codeHash: put(otherCode) });
  const result = engine.execute(
    testMessage({
      to: contract,
      caller: alice,
      origin: alice,
      gas: GAS,
      gasPrice: 7n,
      ...message,
    }),
    block(hardfork),
    state,
    options,
  );
  return { state, ...result };
}

/** Code that returns the word its `code` leaves on the stack. */
const returning = (code: string) => `${code} 5f 52 60 20 5f f3`;

function word(setup: Setup): bigint {
  const { outcome, returnData } = run(setup);
  assert.equal(outcome, "success");
  return bytesToBigint(returnData);
}

test("execute answers with return data and the gas left", () => {
  const { outcome, returnData, gasLeft } = run({ code: returning("48") });
  assert.equal(outcome, "success");
  assert.equal(bytesToBigint(returnData), 7n);
  assert.equal(gasLeft, GAS - 2n - 2n - 6n - 3n - 2n);
});

test("execute returns gas beyond 2^63 untouched", () => {
  const gas = (1n << 64n) - 1n;
  assert.equal(run({ code: "5b00", message: { gas } }).gasLeft, gas - 1n);
});

test("execute writes storage on success and nothing after a revert", () => {
  const stored = run({ code: "602a600155" });
  assert.equal(stored.state.storage(contract, hashFromBigint(1n)), 42n);
  const reverted = run({ code: "602a60015560015f5360015ffd", message: { value: 5n } });
  assert.equal(reverted.outcome, "revert");
  assert.deepEqual(reverted.returnData, Uint8Array.of(1));
  assert.equal(reverted.state.storage(contract, hashFromBigint(1n)), 0n);
  assert.equal(reverted.state.account(alice)?.balance, 10n ** 18n);
  assert.equal(reverted.gasRefund, 0n);
});

test("execute names the halt as go-ethereum does", () => {
  const haltOf = (code: string, gas = GAS) => run({ code, message: { gas } }).halt;
  assert.deepEqual(haltOf("fe"), { kind: "invalidOpcode", opcode: 0xfe });
  assert.deepEqual(haltOf("0c"), { kind: "invalidOpcode", opcode: 0x0c });
  assert.deepEqual(haltOf("600101"), { kind: "stackUnderflow", have: 1, need: 2 });
  assert.deepEqual(haltOf("5b5f80600056"), { kind: "stackOverflow", have: 1024, limit: 1023 });
  assert.deepEqual(haltOf("5b5f56"), { kind: "outOfGas" });
  assert.deepEqual(haltOf("600556"), { kind: "invalidJump" });
  // A JUMPDEST inside the immediate of a PUSH is none.
  assert.deepEqual(haltOf("6003565b605b00"), undefined);
  assert.deepEqual(haltOf("6005565b605b00"), { kind: "invalidJump" });
  assert.deepEqual(haltOf("60015f5f3e"), { kind: "returnDataOutOfBounds" });
  assert.deepEqual(haltOf("7fff00000000000000000000000000000000000000000000000000000000000000 51"), {
    kind: "gasUintOverflow",
  });
  // MSTORE8 at 2^64 − 33 ends where the rounded size still fits 64 bits, one further it does not.
  assert.deepEqual(haltOf("5f67ffffffffffffffdf53"), {
    kind: "outOfGas",
    reason: "gas uint64 overflow",
  });
  assert.deepEqual(haltOf("5f67ffffffffffffffe053"), { kind: "gasUintOverflow" });
  // The price of a warm access comes before a range beyond 64 bits.
  for (const [opcode, operands] of Object.entries({ f1: 3, f2: 3, f4: 2, fa: 2 })) {
    // Out size and offset are 0, the size of the input is beyond all memory.
    const code = `5f5f7f${"ff".repeat(32)}${"5f".repeat(1 + operands)}${opcode}`;
    const gas = BigInt(2 + 2 + 3 + 2 * (1 + operands));
    assert.deepEqual(haltOf(code, gas + 99n), { kind: "outOfGas" }, opcode);
    assert.deepEqual(haltOf(code, gas + 100n), { kind: "gasUintOverflow" }, opcode);
  }
  // No price of LOG comes before its range is measured.
  for (const topics of [0, 1, 2, 3, 4]) {
    const log = (size: string) => `${"5f".repeat(topics)}7f${size.padStart(64, "0")}5fa${topics}`;
    const gas = BigInt(2 * topics + 3 + 2);
    for (const left of [0n, 374n, 375n, 100_000n]) {
      assert.deepEqual(haltOf(log("ff".repeat(32)), gas + left), { kind: "gasUintOverflow" }, `LOG${topics} ${left}`);
      const reason = "gas uint64 overflow";
      assert.deepEqual(haltOf(log("ff".repeat(6)), gas + left), { kind: "outOfGas", reason }, `LOG${topics} ${left}`);
    }
    assert.deepEqual(haltOf(log("5"), gas + 374n), { kind: "outOfGas" });
  }
  assert.deepEqual(haltOf("64ffffffffff51"), { kind: "outOfGas", reason: "gas uint64 overflow" });
  assert.deepEqual(haltOf("6001600155", 2306n), {
    kind: "outOfGas",
    reason: "not enough gas for reentrancy sentry",
  });
  assert.deepEqual(haltOf("61c0015f5ff0"), {
    kind: "outOfGas",
    reason: "max initcode size exceeded: code size 49153 limit 49152",
  });
  // The gas for memory overflows before the size is looked at.
  for (const create of ["65ffffffffffff5f5ff0", "5f65ffffffffffff5f5ff5"]) {
    assert.deepEqual(haltOf(create), { kind: "outOfGas", reason: "gas uint64 overflow" });
  }
});

test("a CALL that cannot pay for value or memory is out of gas in geth's words, before Prague the other calls in theirs", () => {
  const inAccess = { kind: "outOfGas", reason: "out of gas" };
  for (const hardfork of ["berlin", "cancun", "prague"] as const) {
    for (const opcode of ["f1", "f2", "f4", "fa"]) {
      // The output is 4 KB: with 220 gas the access is paid, the memory is not.
      const code = `6110005f5f5f${opcode < "f4" ? "6001" : ""}305a${opcode}`.replaceAll("5f", "6000");
      const { halt } = run({ code, hardfork, message: { gas: 220n } });
      const isInAccess = hardfork === "prague" || opcode === "f1";
      assert.deepEqual(halt, isInAccess ? inAccess : { kind: "outOfGas" }, `${opcode} ${hardfork}`);
    }
  }
  // The price of a new account is charged after both.
  const code = `600060006000600060017300${"dead".repeat(9)}005af1`;
  assert.deepEqual(run({ code, hardfork: "cancun", message: { gas: 20_000n } }).halt, { kind: "outOfGas" });
});

test("the first failing opcode of a segment names the halt, not the segment", () => {
  // ADD on an empty stack comes before the JUMP that would fail, and before gas runs out on 20 MULs.
  assert.equal(run({ code: `01${"5f5f02".repeat(20)}`, message: { gas: 50n } }).halt?.kind, "stackUnderflow");
  assert.equal(run({ code: `${"5f5f02".repeat(20)}01`, message: { gas: 50n } }).halt?.kind, "outOfGas");
});

test("a static frame rejects writes with go-ethereum's text", () => {
  const haltIn = (code: string) => {
    const ends: FrameEnd[] = [];
    const tracer: Tracer = { onExit: (end) => ends.push(end) };
    // STATICCALL of `other`
    run({ code: `5f5f5f5f73${other.slice(2)}5afa00`, other: code, options: { tracer } });
    return ends[0]?.halt;
  };
  const inGas = { kind: "outOfGas", reason: "write protection" };
  assert.deepEqual(haltIn("60016001 55"), inGas);
  assert.deepEqual(haltIn("5f5f5f f0"), inGas);
  assert.deepEqual(haltIn("5f5f5f5f6001305af1"), inGas);
  assert.deepEqual(haltIn("30ff"), inGas);
  assert.deepEqual(haltIn("5f5fa0"), { kind: "writeProtection" });
  assert.deepEqual(haltIn("5f5f5d"), { kind: "writeProtection" });
});

test("GAS and the 63/64 rule see the exact counter in the middle of a block", () => {
  assert.equal(word({ code: returning("5b60016001015a") }), GAS - 1n - 3n - 3n - 3n - 2n);
  // A call with all gas: the callee sees what is left less a 64th (EIP-150).
  const code = `60205f5f5f5f73${other.slice(2)}5af15f51${"5f5260205ff3"}`;
  const before = GAS - 5n * 2n - 1n - 3n - 2n;
  const afterAccess = before - 2600n - 3n;
  const child = afterAccess - afterAccess / 64n;
  assert.equal(word({ code, other: returning("5a") }), child - 2n);
});

test("frames nest 1024 deep and the next one is rejected", () => {
  const depths: number[] = [];
  const ends: FrameEnd[] = [];
  const tracer: Tracer = {
    onEnter: (_, depth) => depths.push(depth),
    onExit: (end) => ends.push(end),
  };
  // Calls itself with all gas, forever.
  const result = run({
    code: "5f5f5f5f5f305af1",
    message: { gas: 1n << 60n },
    options: { tracer },
  });
  assert.equal(result.outcome, "success");
  assert.equal(Math.max(...depths), 1025);
  assert.deepEqual(ends[0]?.halt, { kind: "callDepth" });
});

test("return data survives the growth of the caller's memory", () => {
  // The callee returns 0x2a; then MSTORE far out moves the return data, and RETURNDATACOPY reads it.
  const code = `5f5f5f5f5f73${other.slice(2)}5af150 6001612000 52 60205f5f3e 60205ff3`;
  assert.equal(bytesToBigint(run({ code, other: returning("602a") }).returnData), 42n);
});

test("memory of a former frame reads as zero", () => {
  // The callee fills its memory; the caller then expands over the same bytes.
  const code = `5f5f5f5f5f73${other.slice(2)}5af150 610400 51 5f52 60205ff3`;
  const fills = "5f19 5f52 5f19 610400 52 5f19 610800 52";
  assert.equal(bytesToBigint(run({ code, other: fills }).returnData), 0n);
});

test("a creation deploys what its init code returns", () => {
  // Returns one byte 0x00 of memory as code.
  const { outcome, returnData, state, gasLeft } = run({
    code: "",
    message: {
      to: null,
      createAddress: "0x3c952d36207c0d52743a646e7ac2649009bd358e" as Address,
      data: hexToBytes("0x60015ff3"),
    },
  });
  assert.equal(outcome, "success");
  assert.deepEqual(returnData, Uint8Array.of(0));
  assert.equal(gasLeft, GAS - 3n - 2n - 3n - 200n);
  const account = state.account("0x3c952d36207c0d52743a646e7ac2649009bd358e" as Address)!;
  assert.equal(account.nonce, 1n);
  assert.deepEqual(state.code(account.codeHash), Uint8Array.of(0));
});

test("EIP-6780: SELFDESTRUCT deletes only what the transaction created", () => {
  assert.deepEqual(run({ code: "5fff" }).selfDestructs, []);
  assert.deepEqual(run({ code: "5fff", hardfork: "shanghai" }).selfDestructs, [contract]);
});

test("EIP-7702: a delegated account runs the code of its target and shows its own", () => {
  const delegation = `ef0100${other.slice(2)}`;
  assert.equal(word({ code: delegation, other: returning("30") }), BigInt(contract));
  assert.equal(word({ code: returning(`73${other.slice(2)}3b`), other: `ef0100${alice.slice(2)}` }), 23n);
});

test("EIP-7939: CLZ counts leading zero bits", () => {
  assert.equal(word({ code: returning("5f1e") }), 256n);
  assert.equal(word({ code: returning("60011e") }), 255n);
  assert.equal(word({ code: returning("5f191e") }), 0n);
  assert.equal(run({ code: "5f1e", hardfork: "prague" }).halt?.kind, "invalidOpcode");
});

test("BLOCKHASH knows the 256 blocks before this one", () => {
  assert.equal(word({ code: returning("61012b40") }), 299n);
  assert.equal(word({ code: returning("602c40") }), 44n);
  assert.equal(word({ code: returning("602b40") }), 0n);
  assert.equal(word({ code: returning("61012c40") }), 0n);
});

/** An engine whose clock moves by a millisecond whenever it looks at it. */
function clocked() {
  const clock = { looks: 0 };
  return { clock, engine: createEvm({ now: () => clock.looks++ }) };
}

test("a deadline ends a loop that would run for hours at the first look after it", () => {
  const { clock, engine } = clocked();
  const { halt } = run({ code: "5b5f56", message: { gas: 1n << 62n }, options: { deadlineMs: 5 }, engine });
  assert.deepEqual(halt, { kind: "timeout" });
  assert.equal(clock.looks, 7);
});

test("a deadline reached in a callee ends the caller too", () => {
  const { halt } = run({
    code: `5f5f5f5f5f73${other.slice(2)}5af1 5b 60 00 56`,
    other: "5b5f56",
    message: { gas: 1n << 62n },
    options: { deadlineMs: 2 },
    engine: clocked().engine,
  });
  assert.deepEqual(halt, { kind: "timeout" });
});

test("a deadline ends a loop of calls, each of them short", () => {
  const { halt } = run({
    code: `5b 5f5f5f5f5f73${other.slice(2)}5af1 50 5f56`,
    message: { gas: 1n << 62n },
    options: { deadlineMs: 2 },
    engine: clocked().engine,
  });
  assert.deepEqual(halt, { kind: "timeout" });
});

test("an engine rejects an execution from inside another", () => {
  const tracer: Tracer = { onStep: () => void run({ code: "" }) };
  assert.throws(() => run({ code: "00", options: { tracer } }), { name: "InvariantError" });
  assert.equal(run({ code: "" }).outcome, "success");
});

test("an exception of the state leaves the engine usable, also when memory had grown", () => {
  const failing = new Error("the disk is gone");
  const state = createWorldState(createMemoryState());
  const codeHash = state.putCode(hexToBytes("0x6308000000515f54"));
  state.setAccount(contract, { nonce: 1n, balance: 0n, codeHash });
  const broken = new Proxy(state, {
    get(target, name) {
      if (name !== "storage") return target[name as keyof typeof target].bind(target);
      return () => {
        throw failing;
      };
    },
  });
  const message = {
    to: contract,
    caller: alice,
    origin: alice,
    value: 0n,
    data: EMPTY_BYTES,
    gas: 1n << 50n,
    gasPrice: 0n,
    blobVersionedHashes: [],
    warmAddresses: [],
    warmSlots: [],
  };
  assert.throws(() => evm.execute(message, block("osaka"), broken), failing);
  assert.equal(word({ code: returning("602a") }), 42n);
});

test("a memory limit holds for all frames together", () => {
  const gas = 1n << 50n;
  const expand = "630010000051";
  const options = { memoryBytesMax: 1 << 20 };
  assert.equal(run({ code: expand, message: { gas } }).outcome, "success");
  assert.deepEqual(run({ code: expand, message: { gas }, options }).halt, { kind: "memoryLimit" });
  const twice = `620a000051 5f5f5f5f5f73${other.slice(2)}5af1`;
  assert.deepEqual(run({ code: twice, other: "620a000051", message: { gas }, options }).halt, {
    kind: "memoryLimit",
  });
});

test("onEnter and onExit report every call, also one that ends at once", () => {
  const reported: string[] = [];
  const tracer: Tracer = {
    onEnter: ({ type, to, value }: FrameStart, depth) =>
      reported.push(`${" ".repeat(depth)}${type} ${to.slice(0, 6)} ${value}`),
    onExit: ({ outcome, gasUsed }, depth) =>
      reported.push(`${" ".repeat(depth)}${outcome} ${depth === 0 ? "" : gasUsed}`),
  };
  // CALL of the identity precompile, then with more value than there is.
  const code = "5f5f5f5f5f60045af1 5f5f5f5f600160055af1";
  run({ code, options: { tracer } });
  assert.deepEqual(reported, [
    "CALL 0xcccc 0",
    " CALL 0x0000 0",
    " success 15",
    " CALL 0x0000 1",
    " halt 0",
    "success ",
  ]);
});

test("onExit reports the end of every frame and call that memory ran out for", () => {
  // The frame asks for too much; the code of a creation, or a precompile's output, has no room; records of slots fill their region.
  const inside = {
    frame: "620a000051",
    creation: "61c0005f5ff0",
    precompile: "5f5f620280005f60045afa",
    records: "5b5a54505f56",
  };
  for (const [name, other_] of Object.entries(inside)) {
    const open: string[] = [];
    const ended: (string | undefined)[] = [];
    const tracer: Tracer = {
      onEnter: ({ type }) => open.push(type),
      onExit: ({ halt }) => {
        open.pop();
        ended.push(halt?.kind);
      },
    };
    const result = run({
      code: `5f5f5f5f5f73${other.slice(2)}5af1`,
      other: other_,
      message: { gas: 1n << 50n },
      options: { tracer, memoryBytesMax: 1 << 18 },
    });
    assert.deepEqual(result.halt, { kind: "memoryLimit" }, name);
    assert.deepEqual(open, [], name);
    assert.ok(ended.length >= 2 && ended.every((kind) => kind === "memoryLimit"), name);
  }
});

test("onAccess reports accounts and slots, warm ones too", () => {
  const reported: string[] = [];
  run({
    code: `600754 5073${other.slice(2)}31`,
    message: { warmAddresses: [other], warmSlots: [[contract, hashFromBigint(7n)]] },
    options: { onAccess: (address, slot) => reported.push(`${address} ${slot && BigInt(slot)}`) },
  });
  assert.deepEqual(reported, [`${contract} 7`, `${other} undefined`]);
});

for (const count of [1, 6, 7, 40]) {
  test(`each of ${count} addresses of an access list is warm, and no other`, () => {
    const listed = Array.from({ length: count }, (_, i) => addressOf(0x1000 + i));
    const gasOf = (address: Address) => {
      const code = `73${address.slice(2)}31 00`;
      return GAS - run({ code, message: { warmAddresses: listed } }).gasLeft;
    };
    for (const address of [...listed, alice, contract]) assert.equal(gasOf(address), 3n + 100n);
    assert.equal(gasOf(addressOf(0x999)), 3n + 2600n);
  });
}

test("slots are found again however many an execution writes", () => {
  // 1,000 slots are set to their own number, then two of them are added.
  const write = "6103e8 5b 80 80 55 6001 90 03 80 6003 57 50";
  const code = returning(`${write} 6096 54 6103e8 54 01`);
  assert.equal(word({ code, message: { gas: 100_000_000n } }), 150n + 1000n);
});

test("onStep comes before each opcode, with its whole cost and memory as it was", () => {
  const steps: (Pick<Step, "pc" | "opcode" | "gas" | "gasCost"> & {
    stack: bigint[];
    memory: string;
  })[] = [];
  const tracer: Tracer = {
    onStep: (step) => {
      const { pc, opcode, gas, gasCost } = step;
      const memory = bytesToHex(step.memory());
      steps.push({ pc, opcode, gas, gasCost, stack: step.stack(), memory });
    },
  };
  run({ code: "6005602052 5a", options: { tracer }, message: { gas: 100n } });
  assert.deepEqual(steps, [
    { pc: 0, opcode: 0x60, gas: 100n, gasCost: 3n, stack: [], memory: "0x" },
    { pc: 2, opcode: 0x60, gas: 97n, gasCost: 3n, stack: [5n], memory: "0x" },
    { pc: 4, opcode: 0x52, gas: 94n, gasCost: 9n, stack: [5n, 32n], memory: "0x" },
    { pc: 5, opcode: 0x5a, gas: 85n, gasCost: 2n, stack: [], memory: `0x${"00".repeat(63)}05` },
    { pc: 6, opcode: 0x00, gas: 83n, gasCost: 0n, stack: [83n], memory: `0x${"00".repeat(63)}05` },
  ]);
});

test("a SELFDESTRUCT that cannot pay costs all of it before Berlin, and its static gas after", () => {
  const code = `73${"dead".repeat(10)}ff`;
  for (const [hardfork, cost] of [
    ["istanbul", 30_000n],
    ["osaka", 5_000n],
  ] as const) {
    const costs: bigint[] = [];
    const tracer: Tracer = { onStep: ({ gasCost }) => void costs.push(gasCost) };
    run({ code, hardfork, message: { gas: 1_000n, value: 1n }, options: { tracer } });
    assert.equal(costs.at(-1), cost, hardfork);
  }
});

test("onStep shows the opcode that could not be paid with its halt", () => {
  const halts: unknown[] = [];
  const tracer: Tracer = { onStep: ({ pc, halt }) => halts.push([pc, halt?.kind]) };
  run({ code: "5f5f01", message: { gas: 5n }, options: { tracer } });
  assert.deepEqual(halts, [
    [0, undefined],
    [1, undefined],
    [2, "outOfGas"],
  ]);
});

test("replaced precompiles take the place of the fork's own", () => {
  const address = `0x${"00".repeat(19)}77` as Address;
  const precompile = {
    name: "TEST",
    gas: () => 11n,
    run: () => Uint8Array.of(9),
  };
  const { returnData } = run({
    code: "60015f5f5f5f60775af1 60015ff3",
    options: { precompiles: new Map([[address, precompile]]) },
  });
  assert.deepEqual(returnData, Uint8Array.of(9));
});
