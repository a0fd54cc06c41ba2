import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CHAIN_ID,
  GENESIS_TIME,
  openTestApplication,
  transferOf,
} from "../../test/support/consensus/test-application.ts";
import fc from "../../test/support/fast-check.ts";
import { allForksAtGenesis } from "../base/params/blob-schedule.ts";
import type { ChainConfig } from "../base/params/chain-config.ts";
import { hardforkAt } from "../base/params/hardforks.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import type { BlockBuilder, SealedBlock } from "../evm/execution/block/build-block.ts";
import { InvalidBlockError, InvalidTransactionError } from "../evm/execution/errors.ts";
import { assembleBlock, Packing, type PackingLimits, TX_FRAME_BYTES } from "./pack-transactions.ts";
import { ExecutorFailure } from "./quarantine.ts";

const GWEI = 10n ** 9n;
const UNLIMITED = { bytesMax: 1_000_000, timeMs: Number.POSITIVE_INFINITY, minimumTip: 0n };

/** A builder that executes nothing, and the transactions it was given. */
function fakeBuilder(
  gas: bigint,
  fault: (tx: Transaction) => void = () => {},
  config: ChainConfig = allForksAtGenesis(CHAIN_ID),
) {
  const header = {
    number: 1,
    timestamp: GENESIS_TIME + 1,
    difficulty: 0n,
    baseFeePerGas: GWEI,
    excessBlobGas: 0n,
  };
  let gasLeft = gas;
  const builder = {
    header,
    context: { hardfork: hardforkAt(config, header), blobBaseFee: 1n },
    gasLeft: () => gasLeft,
    add(tx: Transaction) {
      fault(tx);
      gasLeft -= tx.gasLimit;
    },
  };
  return builder as unknown as BlockBuilder;
}

function pack(
  transactions: readonly Transaction[],
  options: PackingLimits = UNLIMITED,
  builder = fakeBuilder(30_000_000n),
  isExcluded = (_: string) => false,
  config = allForksAtGenesis(CHAIN_ID),
) {
  const { mempool } = openTestApplication();
  for (const tx of transactions) mempool.add({ tx });
  const packing = new Packing(builder, options, { mempool, config, isExcluded });
  packing.run(options.timeMs);
  return packing.packed;
}

/** A transfer with this tip in gwei. */
const tipped = (from: number, nonce: number, tip: bigint) =>
  transferOf(from, nonce, { maxPriorityFeePerGas: tip * GWEI });

const rejection = (code: "TX_NONCE_MISMATCH_TOO_LOW" | "TX_GAS_ALLOWANCE_EXCEEDED") =>
  new InvalidTransactionError(code, code, {});

test("a packing takes the best tip first and each account in nonce order", () => {
  const [a, b, c] = [tipped(0, 0, 1n), tipped(0, 1, 9n), tipped(1, 0, 5n)];
  assert.deepEqual(pack([a, b, c]), [c, a, b]);
  assert.deepEqual(pack([a, c], { ...UNLIMITED, minimumTip: 2n * GWEI }), [c]);
});

test("a packing stops at the gas of the cheapest transaction, and when the time is over", () => {
  const all = [tipped(0, 0, 1n), tipped(1, 0, 2n), tipped(2, 0, 3n)];
  assert.equal(pack(all, UNLIMITED, fakeBuilder(2n * 21_000n + 20_999n)).length, 2);
  assert.deepEqual(pack(all, { ...UNLIMITED, timeMs: -1 }), []);
});

test("under Amsterdam packing continues while 12,000 gas are left, enough for a transfer to oneself", () => {
  const amsterdam = { ...allForksAtGenesis(CHAIN_ID), amsterdamTime: 0 };
  const tried = (gasLeft: bigint) => {
    let count = 0;
    const fault = () => {
      count++;
      throw rejection("TX_GAS_ALLOWANCE_EXCEEDED");
    };
    const builder = fakeBuilder(gasLeft, fault, amsterdam);
    pack([tipped(0, 0, 1n)], UNLIMITED, builder, undefined, amsterdam);
    return count;
  };
  assert.deepEqual([11_999n, 12_000n].map(tried), [0, 1]);
});

test("packing skips transactions that exceed the bytes, including frames, and continues with other accounts", () => {
  const large = transferOf(0, 0, {
    data: new Uint8Array(1_000),
    gasLimit: 100_000n,
    maxPriorityFeePerGas: 5n * GWEI,
  });
  const [after, small] = [tipped(0, 1, 9n), tipped(1, 0, 1n)];
  const bytesMax = large.raw.length + TX_FRAME_BYTES;
  assert.deepEqual(pack([large, after, small], { ...UNLIMITED, bytesMax: bytesMax - 1 }), [small]);
  assert.deepEqual(pack([large, after, small], { ...UNLIMITED, bytesMax }), [large]);
});

test("a packing closes an account after an exclusion or a rejection, and skips a used nonce alone", () => {
  const [first, second, other] = [tipped(0, 0, 3n), tipped(0, 1, 3n), tipped(1, 0, 1n)];
  const all = [first, second, other];
  assert.deepEqual(
    pack(all, UNLIMITED, fakeBuilder(30_000_000n), (hash) => hash === first.hash),
    [other],
  );
  for (const [code, packed] of [
    ["TX_GAS_ALLOWANCE_EXCEEDED", [other]],
    ["TX_NONCE_MISMATCH_TOO_LOW", [second, other]],
  ] as const) {
    const builder = fakeBuilder(30_000_000n, ({ hash }) => {
      if (hash === first.hash) throw rejection(code);
    });
    assert.deepEqual(pack(all, UNLIMITED, builder), packed, code);
  }
});

test("resumed packing takes the transactions that a new one would, or is stale if others come first", () => {
  const tip = fc.bigInt({ min: 1n, max: 3n });
  const rejected = rejection("TX_GAS_ALLOWANCE_EXCEEDED");
  const config = allForksAtGenesis(CHAIN_ID);
  let resumed = 0;
  let stale = 0;
  fc.assert(
    fc.property(
      fc.array(fc.record({ account: fc.nat(3), tip, isRejected: fc.boolean() }), { maxLength: 12 }),
      fc.nat(12),
      (arrivals, early) => {
        const { mempool } = openTestApplication();
        const nonces = [0, 0, 0, 0];
        const faults = new Set<string>();
        const fault = ({ hash }: Transaction) => {
          if (faults.has(hash)) throw rejected;
        };
        const begin = () => new Packing(fakeBuilder(10n * 21_000n, fault), UNLIMITED, { mempool, config });
        const packing = begin();
        for (const [i, { account, tip, isRejected }] of arrivals.entries()) {
          if (i === early) packing.run(Number.POSITIVE_INFINITY);
          const tx = tipped(account, nonces[account]!++, tip);
          if (isRejected) faults.add(tx.hash);
          mempool.add({ tx });
        }
        packing.run(Number.POSITIVE_INFINITY);
        const fresh = begin();
        fresh.run(Number.POSITIVE_INFINITY);
        if (packing.isStale) stale++;
        else {
          resumed++;
          assert.deepEqual(packing.packed, fresh.packed);
        }
      },
    ),
    { numRuns: 150 },
  );
  assert.ok(resumed > 20 && stale > 5, `${resumed} resumed, ${stale} stale`);
});

test("a packing names the transaction on which the executor failed", () => {
  const tx = tipped(0, 0, 1n);
  const bug = new RangeError("injected");
  const builder = fakeBuilder(30_000_000n, () => {
    throw bug;
  });
  assert.throws(
    () => pack([tx], UNLIMITED, builder),
    (error) => error instanceof ExecutorFailure && error.transaction.hash === tx.hash && error.cause === bug,
  );
});

for (const [name, fault] of Object.entries({
  "its end refuses the block": () => new InvalidBlockError("BLOCK_SYSTEM_CONTRACT_CALL_FAILED", "injected", {}),
  "its end crashes": () => new RangeError("injected"),
})) {
  test(`assembleBlock: one transaction of ten for which ${name} is set aside alone`, () => {
    const { mempool } = openTestApplication();
    const all = [0, 1, 2, 3].flatMap((from) => [0, 1, 2].map((nonce) => transferOf(from, nonce))).slice(0, 10);
    for (const tx of all) mempool.add({ tx });
    for (const bad of all) {
      const error = fault();
      const begin = () => {
        const added: Transaction[] = [];
        return Object.assign(
          fakeBuilder(30_000_000n, (tx) => added.push(tx)),
          {
            seal() {
              if (added.includes(bad)) throw error;
              return added as unknown as SealedBlock;
            },
          },
        );
      };
      const failures: ExecutorFailure[] = [];
      const modules = {
        mempool,
        config: allForksAtGenesis(CHAIN_ID),
        setAside: (one: ExecutorFailure) => failures.push(one),
      };
      const { packed } = assembleBlock(begin, UNLIMITED, modules);
      assert.deepEqual(
        failures.map(({ transaction, cause }) => [transaction.hash, cause]),
        [[bad.hash, error]],
      );
      // Those of its account that come after it have no place without it.
      const left = all.filter((tx) => tx !== bad && !(sameSender(tx, bad, all) && tx.nonce > bad.nonce));
      assert.deepEqual(new Set(packed.map(({ hash }) => hash)), new Set(left.map(({ hash }) => hash)));
    }
  });
}

test("assembleBlock blames no transaction if even the empty block cannot be sealed", () => {
  const { mempool } = openTestApplication();
  mempool.add({ tx: transferOf(0, 0) });
  const error = new RangeError("injected");
  const begin = () =>
    Object.assign(fakeBuilder(30_000_000n), {
      seal() {
        throw error;
      },
    });
  const modules = { mempool, config: allForksAtGenesis(CHAIN_ID), setAside: () => assert.fail("set aside") };
  assert.throws(() => assembleBlock(begin, UNLIMITED, modules), error);
});

/** Accounts have three transactions each, in the order of `all`. */
function sameSender(a: Transaction, b: Transaction, all: readonly Transaction[]): boolean {
  return Math.floor(all.indexOf(a) / 3) === Math.floor(all.indexOf(b) / 3);
}
