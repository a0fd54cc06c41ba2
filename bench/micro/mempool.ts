/** Transactions a second the pool takes in, and milliseconds for a new head and for a block's order, by shape of the load. */

import type { Address } from "../../src/base/primitives/address.ts";
import {
  createTestPool,
  ETHER,
  GWEI,
  testHeader,
  transfer,
} from "../../test/support/consensus/mempool/pool-fixture.ts";
import { printTable, writeResult } from "../support/report.ts";

/** Room for some 6,000 transfers. */
const POOL_BYTES = 11 * 2 ** 20;

type Load = {
  readonly name: string;
  readonly transactions: number;
  readonly accounts: number;
  /** Tip of the n-th transaction in wei. */
  readonly tip: (n: number) => bigint;
};

const LOADS: readonly Load[] = [
  { name: "1 account", transactions: 5_000, accounts: 1, tip: () => 1_000n },
  { name: "200 accounts", transactions: 5_000, accounts: 200, tip: (n) => BigInt(1 + (n % 1_000)) },
  { name: "5000 accounts", transactions: 5_000, accounts: 5_000, tip: (n) => BigInt(1 + n) },
  // More than the pool holds: each further transaction evicts another one, or is rejected.
  { name: "flood, rising tips", transactions: 20_000, accounts: 20_000, tip: (n) => BigInt(1 + n) },
  {
    name: "flood, random tips",
    transactions: 20_000,
    accounts: 20_000,
    tip: (n) => BigInt(1 + ((n * 7_919) % 100_003)),
  },
];

export async function run(): Promise<void> {
  measure(LOADS[1]!);
  const rows = LOADS.map(measure);
  printTable(rows);
  writeResult("mempool", rows);
}

function measure({ name, transactions, accounts, tip }: Load) {
  const { pool, state } = createTestPool({ bytesMax: POOL_BYTES, accountSlots: transactions });
  const senders = Array.from({ length: accounts }, (_, n) => addressOf(n));
  for (const sender of senders) state.set(sender, { balance: 1_000n * ETHER });
  const submissions = Array.from({ length: transactions }, (_, n) =>
    transfer(senders[n % accounts]!, Math.floor(n / accounts), {
      maxPriorityFeePerGas: tip(n),
      maxFeePerGas: tip(n) + 100n * GWEI,
    }),
  );
  const addMs = elapsed(() => {
    for (const submission of submissions) {
      try {
        pool.add(submission);
      } catch {
        // A rejection takes its time as well.
      }
    }
  });
  const orderMs = elapsed(() => {
    const order = pool.pendingForBlock({ baseFee: GWEI, minimumTip: 1n });
    while (order.peek()) order.next();
  });
  const headMs = elapsed(() => pool.onHead({ header: testHeader({ number: 2 }), state }));
  const changed = senders.slice(0, 100);
  const blockMs = elapsed(() => pool.onHead({ header: testHeader({ number: 3 }), state, changed }));
  return {
    load: name,
    "adds/s": transactions / (addMs / 1_000),
    "order all, ms": orderMs,
    "head, all accounts, ms": headMs,
    "head, 100 accounts, ms": blockMs,
  };
}

function elapsed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function addressOf(index: number): Address {
  return `0x${(index + 1).toString(16).padStart(40, "0")}` as Address;
}
