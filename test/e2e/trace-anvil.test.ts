/**
 * `trace_*` against anvil, on two chains of the same transactions: an ERC-20, creations that succeed and fail, calls of every kind,
 * reverts and faults at depth, precompiles, self-destruction. `docs/compliance.md` lists what differs and why.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundryBinary, type Peer, startAnvil } from "../../bench/support/peers.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { assemble, deploymentOf } from "../support/assembler.ts";
import { contract } from "../support/contracts.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const skip = foundryBinary("anvil") === undefined && "anvil is not installed";
const token = contract("Token");
const [owner, other] = DEV_ADDRESSES;
const signer = privateKeyToAccount(DEV_KEYS[0]);

type Sent = {
  readonly name: string;
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
};

/** Where the contract of transaction `nonce` is. */
const at = (nonce: number): Hex => getContractAddress({ from: owner, nonce: BigInt(nonce) }).toLowerCase() as Hex;

/** Calls `to` with no input and leaves the outcome on the stack. */
const callOf = (kind: string, to: Hex, value = "00", gas = "ffff") =>
  `PUSH1 00 PUSH1 00 PUSH1 00 PUSH1 00 ${/^(CALL|CALLCODE)$/.test(kind) ? `PUSH1 ${value}` : ""} ` +
  `PUSH20 ${to} PUSH2 ${gas} ${kind} POP `;
const deploy = (name: string, program: string): Sent => ({
  name,
  data: deploymentOf(assemble(program)),
});

const STORE = 1;
const REVERTS = 2;
const INVALID = 3;
const LOOP = 4;
const DIES = 5;
const CALLER = 6;
const FACTORY = 7;
const TOKEN = 0;

const NEW_ACCOUNT = "0x00000000000000000000000000000000000000bb";
const DIES_CODE = `PUSH20 ${other} SELFDESTRUCT`;

/** By position: the nonce of each. */
const SENT: readonly Sent[] = [
  { name: "an ERC-20 is deployed", data: encodeDeployData({ ...token, args: [1000n] }) },
  deploy(
    "a contract that counts",
    "PUSH1 00 SLOAD PUSH1 01 ADD PUSH1 00 SSTORE PUSH1 00 SLOAD PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN",
  ),
  deploy("one that reverts with data", "PUSH1 2a PUSH1 00 MSTORE PUSH1 20 PUSH1 00 REVERT"),
  deploy("one with an invalid opcode", "PUSH1 01 INVALID"),
  deploy("one that never ends", "JUMPDEST PUSH1 00 JUMP"),
  deploy("one that destroys itself", DIES_CODE),
  deploy(
    "one that calls all of them",
    callOf("CALL", at(STORE), "07") +
      callOf("STATICCALL", at(STORE)) +
      callOf("DELEGATECALL", at(STORE)) +
      callOf("CALLCODE", at(STORE), "01") +
      callOf("CALL", at(REVERTS)) +
      callOf("CALL", at(INVALID)) +
      callOf("CALL", at(LOOP)) +
      callOf("CALL", at(DIES)) +
      callOf("CALL", other, "01") +
      callOf("CALL", "0x00000000000000000000000000000000000000aa") +
      "PUSH1 20 PUSH1 40 PUSH1 00 CALLDATACOPY PUSH1 20 PUSH1 00 PUSH1 20 MCOPY PUSH1 ff PUSH1 03 MSTORE8 STOP",
  ),
  deploy(
    "a factory",
    // Children: one that lives, one whose init code reverts, one by CREATE2, one that destroys itself when it is called.
    `PUSH1 00 PUSH1 00 PUSH1 05 CREATE POP PUSH5 60006000fd PUSH1 00 MSTORE PUSH1 05 PUSH1 1b PUSH1 00 CREATE POP ` +
      `PUSH9 62600000600052600d PUSH1 00 MSTORE PUSH1 2a PUSH1 00 PUSH1 00 PUSH1 00 CREATE2 POP ` +
      `PUSH32 ${deploymentOf(assemble("CALLER SELFDESTRUCT")).slice(2).padEnd(64, "0")} PUSH1 00 MSTORE ` +
      `PUSH1 0e PUSH1 00 PUSH1 03 CREATE PUSH1 00 PUSH1 00 PUSH1 00 PUSH1 00 PUSH1 00 DUP6 PUSH2 ffff CALL STOP`,
  ),
  {
    name: "a token transfer",
    to: at(TOKEN),
    data: encodeFunctionData({ abi: token.abi, functionName: "transfer", args: [other, 5n] }),
  },
  {
    name: "a token transfer that reverts",
    to: at(TOKEN),
    data: encodeFunctionData({ abi: token.abi, functionName: "transfer", args: [other, 5000n] }),
  },
  { name: "calls of every kind", to: at(CALLER), value: 100n, data: `0x${"ab".repeat(64)}` },
  { name: "creations of every kind", to: at(FACTORY), value: 100n },
  { name: "a transaction that runs out of gas", to: at(LOOP), gas: 60_000n },
  { name: "a transaction with an invalid opcode", to: at(INVALID), gas: 60_000n },
  { name: "a creation that reverts", data: assemble("PUSH1 00 PUSH1 00 REVERT") },
  { name: "a creation that halts", data: "0xfe" },
  { name: "a transfer to a new account", to: NEW_ACCOUNT, value: 1n },
  { name: "a transfer", to: other, value: 1n },
  {
    name: "a storage slot that is cleared",
    data: assemble("PUSH1 01 PUSH1 00 SSTORE PUSH1 00 PUSH1 00 SSTORE PUSH1 05 PUSH1 07 SSTORE STOP"),
  },
  {
    name: "a call of a precompile",
    to: "0x0000000000000000000000000000000000000004",
    data: "0x1234",
  },
];

let node: TestNode;
let anvil: Peer;
const hashes: Hex[] = [];

before(async () => {
  if (skip) return;
  node = await startTestNode({ dev: true });
  const peer = await startAnvil({
    extraArguments: ["--gas-limit", "60000000", "--base-fee", "1000000000", "--hardfork", "osaka"],
  });
  assert.ok(peer);
  anvil = peer;
  for (const [nonce, { to, data, value = 0n, gas = 1_000_000n }] of SENT.entries()) {
    const raw = await signer.signTransaction({
      chainId: 31337,
      nonce,
      gas,
      value,
      type: "eip1559",
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 11n,
      ...(to && { to }),
      ...(data && { data }),
    });
    const theirs = await ask(anvilUrl(), "eth_sendRawTransaction", raw);
    assert.equal(await ask(node.url, "eth_sendRawTransaction", raw), theirs);
    hashes.push(theirs);
    await ask(node.url, "eth_getTransactionReceipt", theirs);
  }
});
after(async () => {
  await node?.stop();
  await anvil?.stop();
});

const anvilUrl = () => `http://127.0.0.1:${anvil.port}`;

async function ask(url: string, method: string, ...params: readonly unknown[]) {
  const { result, error } = await callHttp(url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result;
}

async function askBoth(method: string, ...params: readonly unknown[]) {
  return [await ask(node.url, method, ...params), await ask(anvilUrl(), method, ...params)];
}

/** Paths where two answers differ. */
function* differences(ours: unknown, theirs: unknown, path = ""): Generator<string> {
  const isObject = (value: unknown) => typeof value === "object" && value !== null;
  if (!isObject(ours) || !isObject(theirs)) {
    if (ours !== theirs) yield `${path}: ${JSON.stringify(ours)} | ${JSON.stringify(theirs)}`;
    return;
  }
  const [left, right] = [ours, theirs] as Record<string, unknown>[];
  for (const key of new Set([...Object.keys(left!), ...Object.keys(right!)])) {
    yield* differences(left![key], right![key], `${path}.${key}`);
  }
}

/** The base fee is another, so is what the coinbase gets, and with it the hash of the block. */
const normalizedTraces = (traces: readonly Record<string, unknown>[]) =>
  traces.map((trace) => {
    // alloy has no word of Parity's for it.
    const error = trace["error"] === "StateChangeDuringStaticCall" ? "Mutable Call In Static Context" : trace["error"];
    return { ...trace, blockHash: "", error };
  });

const COINBASE = `0x${"00".repeat(20)}`;
/** An account that was not there: anvil shows it as one with balance 0. */
const normalizedDiff = ({ [COINBASE]: _, [NEW_ACCOUNT]: __, ...diff }: Record<string, unknown>) => diff;

type VmOp = {
  readonly pc: number;
  readonly op: string;
  readonly cost: number;
  readonly ex: { readonly push: readonly string[] } | null;
  readonly sub: VmTrace | null;
};
type VmTrace = { readonly code: string; readonly ops: readonly VmOp[] };

/**
 * anvil shows memory whole, gas as it was before the opcode, no storage that is written, no code of creations, no result of a call, an
 * opcode that failed as one that did not, and a STOP where there is no code: compared is the rest.
 */
function normalizedVm(trace: VmTrace | null): unknown {
  return trace?.ops
    .filter(({ op, cost, pc }) => !(op === "STOP" && cost === 0 && pc === 0))
    .map(({ pc, op, cost, ex, sub }, i, { length }) => {
      const isFrame = /CALL$|CALLCODE$|CREATE/.test(op);
      const isLast = i === length - 1;
      return {
        pc,
        op,
        ...(!isFrame && !isLast && { cost, push: ex?.push }),
        sub: normalizedVm(sub),
      };
    });
}

for (const [i, { name }] of SENT.entries()) {
  const block = `0x${(i + 1).toString(16)}`;
  const replayed = async (part: string) =>
    (await askBoth("trace_replayBlockTransactions", block, [part])).map(([only]) => only);

  test(`trace_transaction: ${name}`, { skip }, async () => {
    const [ours, theirs] = await askBoth("trace_transaction", hashes[i]);
    assert.deepEqual([...differences(normalizedTraces(ours), normalizedTraces(theirs))], []);
  });
  test(`trace_replayBlockTransactions: ${name}`, { skip }, async () => {
    const [ours, theirs] = await replayed("trace");
    assert.deepEqual({ ...ours, trace: [] }, { ...theirs, trace: [] });
    assert.deepEqual([...differences(normalizedTraces(ours.trace), normalizedTraces(theirs.trace))], []);
  });
  test(`stateDiff: ${name}`, { skip }, async () => {
    const [ours, theirs] = await replayed("stateDiff");
    const [left, right] = [normalizedDiff(ours.stateDiff), normalizedDiff(theirs.stateDiff)];
    assert.deepEqual([...differences(left, right)], []);
  });
  test(`vmTrace: ${name}`, { skip }, async () => {
    const [ours, theirs] = await replayed("vmTrace");
    assert.ok(ours.vmTrace.code.startsWith("0x"));
    assert.deepEqual([...differences(normalizedVm(ours.vmTrace), normalizedVm(theirs.vmTrace))], []);
  });
}

test("trace_filter finds what anvil finds", { skip }, async () => {
  const range = { fromBlock: "0x1", toBlock: `0x${SENT.length.toString(16)}` };
  for (const filter of [
    {},
    { fromAddress: [owner] },
    { toAddress: [at(STORE), other] },
    { fromAddress: [at(CALLER)], toAddress: [other] },
    { fromAddress: [at(CALLER)], after: 2, count: 3 },
  ]) {
    const [ours, theirs] = await askBoth("trace_filter", { ...range, ...filter });
    assert.ok(ours.length > 0);
    assert.deepEqual([...differences(normalizedTraces(ours), normalizedTraces(theirs))], []);
  }
});

test("trace_block is anvil's", { skip }, async () => {
  const [ours, theirs] = await askBoth("trace_block", "0xb");
  assert.ok(ours.length > 5);
  assert.deepEqual([...differences(normalizedTraces(ours), normalizedTraces(theirs))], []);
});
