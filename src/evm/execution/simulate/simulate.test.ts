import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "../../../../test/support/assembler.ts";
import {
  account,
  alice,
  allocWith,
  bob,
  config,
  contract,
  countingReads,
  testChain,
} from "../../../../test/support/evm/execution/factories.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { decodeRlp } from "../../../base/primitives/rlp.ts";
import { encodeHeader, headerHash } from "../../../base/types/header-codec.ts";
import type { CallArguments } from "../call/call-arguments.ts";
import type { StateOverrides } from "../call/overrides.ts";
import { simulate } from "./simulate.ts";
import type { SimulationOptions } from "./simulate-block.ts";
import type { BlockRequest } from "./simulate-plan.ts";

const ETHER_LOGS = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const identity = `0x${"04".padStart(40, "0")}` as Address;

/** Emits a log with no topics, then does what its calldata's length says: 0 bytes stop, else revert. */
const LOGS_AND_MAY_REVERT: Hex = "0x60006000a036600a57005b5f5ffd";

function run(
  requests: readonly BlockRequest[],
  options: Partial<SimulationOptions> = {},
  code: Hex = "0x",
  chainConfig = config,
) {
  const { genesis, modules } = testChain(allocWith("0x", [[contract, account({ code })]]), chainConfig);
  const { hash, header, state, blockHash } = genesis;
  return simulate(requests, { hash, header, state, stateRoot: header.stateRoot, blockHash }, modules, {
    validation: false,
    traceTransfers: false,
    gasCap: 50_000_000n,
    ...options,
  });
}

const block = (...calls: CallArguments[]): BlockRequest => ({ calls });

test("simulate carries the state from call to call and from block to block", () => {
  const give = { from: alice, to: bob, value: 1_000n };
  const spend = { from: bob, to: contract, value: 1_500n };
  const [first, second] = run([block(give, give), block(spend)]);
  assert.equal(first!.executed.receipts.length, 2);
  assert.equal(second!.calls[0]!.failure, undefined);
  assert.equal(second!.executed.block.header.parentHash, first!.executed.block.hash);
});

test("simulate crosses the fork to Amsterdam with blocks that have an access list, and no slot number as in geth", () => {
  const crossing = { ...config, amsterdamTime: 2_000 };
  const later: BlockRequest = { blockOverrides: { time: 2_000n }, calls: [{ from: alice, to: bob, value: 1n }] };
  const [first, second] = run([{ ...later, blockOverrides: { time: 1_999n } }, later], {}, "0x", crossing);
  assert.equal(first!.executed.block.header.blockAccessListHash, undefined);
  const { header, hash } = second!.executed.block;
  assert.notEqual(header.blockAccessListHash, undefined);
  assert.equal(header.slotNumber, undefined);
  // Trailing fields that are absent are left out, as by Go's `rlp:"optional"`.
  const fields = decodeRlp(encodeHeader(header)) as readonly Uint8Array[];
  assert.equal(fields.length, 22);
  assert.equal(bytesToHex(fields.at(-1)!), header.blockAccessListHash);
  assert.equal(hash, headerHash(header));
});

test("simulate refuses the whole request for a call that may not begin", () => {
  assert.throws(() => run([block({ from: bob, to: alice, value: 1n })]), {
    code: "SIMULATE_INSUFFICIENT_FUNDS",
  });
  const validated = (call: CallArguments) => run([block(call)], { validation: true });
  assert.throws(() => validated({ from: alice, to: bob, nonce: 7n }), {
    code: "SIMULATE_NONCE_TOO_HIGH",
  });
  assert.throws(() => validated({ from: alice, to: bob }), { code: "SIMULATE_BASE_FEE_TOO_LOW" });
});

test("simulate makes a call with the caps of EIP-1559 a legacy transaction of price 0 before London", () => {
  const old = { ...config, londonBlock: 1_000 };
  const capped = { from: alice, to: bob, maxFeePerGas: 9n, maxPriorityFeePerGas: 2n };
  const [simulated] = run([block(capped)], {}, "0x", old);
  const { type, ...tx } = simulated!.executed.block.transactions[0]!;
  assert.equal(type, 0);
  assert.equal("gasPrice" in tx && tx.gasPrice, 0n);
  const [now] = run([block({ ...capped, maxFeePerGas: 10n ** 10n })]);
  assert.equal(now!.executed.block.transactions[0]!.type, 2);
  assert.throws(() => run([block({ ...capped, gasPrice: 1n })], {}, "0x", old), {
    message: "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified",
  });
});

test("simulate rejects withdrawals before Shanghai", () => {
  const withdrawals = [{ index: 1n, validatorIndex: 1n, address: bob, amount: 5n }];
  const { shanghaiTime: _, cancunTime: __, pragueTime: ___, osakaTime: ____, ...paris } = config;
  for (const old of [paris, { ...paris, londonBlock: 1_000 }]) {
    assert.throws(() => run([{ calls: [], blockOverrides: { withdrawals } }], {}, "0x", old), {
      code: "CALL_INVALID_BLOCK_OVERRIDES",
      message: "withdrawals set before Shanghai activation",
    });
    assert.equal(run([{ calls: [], blockOverrides: { withdrawals: [] } }], {}, "0x", old).length, 1);
  }
});

test("simulate gives a call the gas that is left, and no more than the budget", () => {
  const gasAtStart: Hex = "0x5a5f5260205ff3";
  const [simulated] = run([block({ to: contract }, { to: contract })], { gasCap: 100_000n }, gasAtStart);
  const calls = simulated!.calls;
  assert.equal(bytesToBigint(calls[0]!.returnData), 100_000n - 21_002n);
  assert.equal(bytesToBigint(calls[1]!.returnData), 100_000n - calls[0]!.gasUsed - 21_002n);
  assert.throws(() => run([block({ to: bob, gas: 10n ** 12n })]), {
    code: "SIMULATE_BLOCK_GAS_LIMIT_REACHED",
  });
});

test("simulate shows transfers as logs, and takes back those of a revert with their numbers", () => {
  const fail = { from: alice, to: contract, value: 5n, data: Uint8Array.of(1) };
  const pass = { from: alice, to: contract, value: 5n };
  const [simulated] = run([block(fail, pass)], { traceTransfers: true }, LOGS_AND_MAY_REVERT);
  const [failed, passed] = simulated!.calls;
  assert.notEqual(failed!.failure, undefined);
  assert.deepEqual(failed!.logs, []);
  assert.deepEqual(
    passed!.logs.map(({ log, index }) => [log.address, index]),
    [
      [ETHER_LOGS, 0],
      [contract, 1],
    ],
  );
  // Transfers are shown; they are no part of the block.
  assert.equal(simulated!.executed.receipts[1]!.logs.length, 1);
});

test("simulate shows no transfer for opcodes that move nothing: CALLCODE, DELEGATECALL", () => {
  for (const opcode of ["PUSH1 01", ""]) {
    const code = opcode === "" ? "DELEGATECALL" : "CALLCODE";
    const program = assemble(`PUSH0 PUSH0 PUSH0 PUSH0 ${opcode} PUSH1 04 GAS ${code} PUSH0 PUSH0 LOG0`);
    const call = { from: alice, to: contract, value: 5n };
    const [simulated] = run([block(call)], { traceTransfers: true }, program);
    assert.deepEqual(
      simulated!.calls[0]!.logs.map(({ log, index }) => [log.address, index]),
      [
        [ETHER_LOGS, 0],
        [contract, 1],
      ],
    );
  }
});

test("simulate refuses a difficulty after the merge", () => {
  assert.throws(() => run([{ blockOverrides: { difficulty: 1n }, calls: [] }]), {
    code: "SIMULATE_DIFFICULTY_AFTER_MERGE",
    message: "block 1: difficulty override is not allowed after the merge",
  });
});

test("simulate moves a precompile for one block only", () => {
  const data = hexToBytes("0x1234");
  const stateOverrides = new Map([[identity, { movePrecompileToAddress: bob }]]);
  const calls = [
    { to: identity, data },
    { to: bob, data },
  ];
  const [moved, after] = run([{ stateOverrides, calls }, { calls }]);
  assert.deepEqual(
    [...moved!.calls, ...after!.calls].map(({ returnData }) => returnData.length),
    [0, 2, 2, 0],
  );
});

test("simulate lets a number that nobody checks wrap behind the greatest nonce", () => {
  const stateOverrides = new Map([[alice, { nonce: 2n ** 64n - 1n }]]);
  const calls = [
    { from: alice, to: bob },
    { from: alice, to: bob },
  ];
  const [simulated] = run([{ stateOverrides, calls }]);
  assert.deepEqual(
    simulated!.executed.block.transactions.map(({ nonce }) => nonce),
    [2n ** 64n - 1n, 0n],
  );
});

test("simulate does not list the storage that an override replaces, and its state roots are those of the new storage", () => {
  const slots = Array.from({ length: 100 }, (_, i) => [hashFromBigint(BigInt(i)), 7n] as const);
  const chainWith = (storage: ReadonlyMap<Hash, bigint>) =>
    testChain(allocWith("0x", [[contract, { ...account(), storage: new Map(storage) }]]));
  const rootOf = (chain: ReturnType<typeof testChain>, stateOverrides: StateOverrides) => {
    const { hash, header, blockHash } = chain.genesis;
    const { state, reads } = countingReads(chain.genesis.state);
    const [block] = simulate(
      [{ stateOverrides, calls: [] }],
      { hash, header, state, stateRoot: header.stateRoot, blockHash },
      chain.modules,
      { validation: false, traceTransfers: false, gasCap: 50_000_000n },
    );
    assert.equal(reads.scans, 0);
    return block!.executed.block.header.stateRoot;
  };
  const replaced = new Map([[hashFromBigint(3n), 9n]]);
  for (const state of [new Map<Hash, bigint>(), replaced]) {
    assert.equal(
      rootOf(chainWith(new Map(slots)), new Map([[contract, { state }]])),
      rootOf(chainWith(state), new Map()),
    );
  }
});
