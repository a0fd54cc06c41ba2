import { all, hasFault, hasTraffic, type Mutant } from "./mutant.ts";

/** Faults of execution and of what is answered about blocks and states. */
export const CHAIN_MUTANTS: readonly Mutant[] = [
  {
    name: "cumulative-gas-of-one",
    why: "A receipt's cumulative gas is that of its transaction alone: right in every block with one transaction.",
    patches: [
      {
        file: "src/evm/execution/block/block-execution.ts",
        from: `      cumulativeGasUsed: this.#environment.gasPool.paidGas,`,
        to: `      cumulativeGasUsed: result.gasUsed,`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(20),
    seedsMax: 20,
    checks: ["model"],
  },
  {
    name: "log-index-of-the-receipt",
    why: "Logs are numbered from 0 in each receipt, and not through the block: right for the first transaction with logs.",
    patches: [
      {
        file: "src/rpc/methods/json/receipt-json.ts",
        from: `      logIndex: firstLogIndex + i,`,
        to: `      logIndex: firstLogIndex * 0 + i,`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(60),
    seedsMax: 20,
    checks: ["model", "answers"],
  },
  {
    name: "base-fee-rounded-up",
    why: "The base fee falls by a rounded up share, not by a rounded down one: a wei that splits a chain of several programs.",
    patches: [
      {
        file: "src/base/params/fees.ts",
        from: `  return baseFee - (baseFee * (target - gasUsed)) / target / BASE_FEE_CHANGE_DENOMINATOR;`,
        to: `  const fall = (baseFee * (target - gasUsed)) / target + BASE_FEE_CHANGE_DENOMINATOR - 1n;\n  return baseFee - fall / BASE_FEE_CHANGE_DENOMINATOR;`,
      },
    ],
    plan: { engine: "solo" },
    seedsMax: 5,
    checks: ["model"],
  },
  {
    name: "fork-begins-late",
    why: "A fork begins after its time and not with it: one block by the old rules, on the boundary alone.",
    patches: [
      {
        file: "src/base/params/hardforks.ts",
        from: `      if (time !== undefined && time <= point.timestamp) return hardfork;`,
        to: `      if (time !== undefined && time < point.timestamp) return hardfork;`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(({ forkAfterMs }) => forkAfterMs > 0, hasTraffic(60)),
    seedsMax: 100,
    checks: ["model"],
  },
  {
    name: "coinbase-paid-twice",
    why: "The tip is credited twice: every node agrees, and ether comes from nowhere.",
    patches: [
      {
        file: "src/evm/execution/transaction/apply-message.ts",
        from: `?? EMPTY_ACCOUNT, tip * gasUsed));`,
        to: `?? EMPTY_ACCOUNT, 2n * tip * gasUsed));`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(20),
    seedsMax: 20,
    checks: ["answers", "model"],
  },
  {
    name: "history-off-by-one",
    why: "The newest row of a key answers for the block before it too: old states are wrong once they are merged.",
    patches: [
      {
        file: "src/store/storage/versioned-table.ts",
        from: `      if (latest.number <= number) return latest.value;`,
        to: `      if (latest.number <= number + 1) return latest.value;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(60),
    seedsMax: 40,
    checks: ["answers", "reader"],
  },
  {
    name: "log-index-misses-a-block",
    why: "The last block of a merge is in no row of the log index: its logs are gone from searches after a restart.",
    patches: [
      {
        file: "src/chain/logs/log-index.ts",
        from: `this.#mergeTerm(writer, term, postings.get(term) ?? []);`,
        to: `this.#mergeTerm(writer, term, (postings.get(term) ?? []).slice(0, -1));`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("stop"), hasTraffic(20)),
    seedsMax: 40,
    checks: ["answers"],
  },
  {
    name: "proof-from-newest-trie",
    why: "A proof of an old block is made of the newest nodes: right for as long as nothing on the way has changed.",
    patches: [
      {
        file: "src/chain/store/store-view.ts",
        from: `    if (number < first) return this.index.historicNodes(number);`,
        to: `    if (number < first) return this.trieNodes;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(20),
    seedsMax: 40,
    checks: ["answers", "own fault"],
  },
  {
    name: "head-cache-stale",
    why: "A slot in the cache of the newest state is not replaced when a block writes it: the next block reads the old value.",
    patches: [
      {
        file: "src/chain/store/state/state-caches.ts",
        from: `      for (const [slot, value] of storage) if (slots.has(slot)) slots.set(slot, value);`,
        to: `      for (const [slot, value] of storage) if (!slots.has(slot)) slots.set(slot, value);`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(20),
    seedsMax: 20,
    checks: ["model", "answers", "own fault"],
  },
  {
    name: "reverted-slots-stay",
    why: "A call that fails takes back its logs and its gas, and not what it has written.",
    patches: [
      {
        file: "src/evm/machine/session.ts",
        from: `  journal.revert(memory.get32(frame.snapshot));\n  session.logs.revert();`,
        to: `  if (journal === undefined) memory.get32(frame.snapshot);\n  session.logs.revert();`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasTraffic(20),
    seedsMax: 10,
    checks: ["model", "answers"],
  },
];
