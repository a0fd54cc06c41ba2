import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { NodeError } from "../../src/base/errors.ts";
import type { GenesisAlloc } from "../../src/base/params/genesis-account.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import type { Block } from "../../src/base/types/block.ts";
import { decodeBlock } from "../../src/base/types/block-codec.ts";
import { EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import type { BlockOutcome, ExecutionModules } from "../../src/evm/execution/block/block-execution.ts";
import { executeBlock } from "../../src/evm/execution/block/execute-block.ts";
import { InvalidBlockError } from "../../src/evm/execution/errors.ts";
import { validateBody } from "../../src/evm/execution/validation/validate-body.ts";
import { validateHeader } from "../../src/evm/execution/validation/validate-header.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import type { StateReader } from "../../src/evm/state/reader.ts";
import { changesOfAlloc } from "../../src/evm/state/state-changes.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { jsonFiles } from "../support/fixtures.ts";
import { createMemoryNodes } from "../support/store/trie/memory-nodes.ts";
import { allocFromJson, type JsonAlloc } from "./alloc.ts";
import { createEngine } from "./engines.ts";
import { codesOf } from "./exceptions.ts";
import { configOfNetwork } from "./networks.ts";
import type { CaseResult } from "./state-tests.ts";
import type { Suite } from "./suite.ts";

/** A filled blockchain test: blocks on a genesis, some of them to be refused. */
type Vector = {
  readonly network: string;
  readonly genesisRLP: string;
  readonly pre: JsonAlloc;
  readonly blocks: readonly { readonly rlp: string; readonly expectException?: string }[];
  readonly lastblockhash: string;
  readonly postState?: JsonAlloc;
  readonly postStateHash?: string;
};

/** A block that was accepted. */
type Imported = {
  readonly block: Block;
  readonly state: StateReader;
  readonly totalDifficulty: bigint;
};

const USAGE = "usage: blockchain-tests DIR … [--engine NAME] [--only SUBSTRING]";

/**
 * ethereum/tests and execution-spec-tests, blockchain tests: each block is decoded, validated and executed or refused for the
 * right reason, and the chain ends where it should. The seal of proof-of-work blocks is not verified.
 */
export const run: Suite = async (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { engine: { type: "string" }, only: { type: "string", default: "" } },
  });
  if (positionals.length === 0) throw new Error(USAGE);
  const evm = await createEngine(values.engine);
  let passed = 0;
  let failed = 0;
  for (const dir of positionals) {
    for (const file of jsonFiles(dir)) {
      for (const { name, fault } of blockchainTestCases(file, evm, values.only)) {
        if (fault === undefined) passed++;
        else {
          failed++;
          console.log(`${relative(dir, file)} ${name}: ${fault}`);
        }
      }
    }
  }
  return { passed, failed };
};

/** Runs the tests of `file` when its path or the test's name contains `only`. */
export function* blockchainTestCases(file: string, evm: Evm, only = ""): Generator<CaseResult> {
  const vectors = JSON.parse(readFileSync(file, "utf8")) as Record<string, Vector>;
  for (const [name, vector] of Object.entries(vectors)) {
    // Folders mix formats: a state test has no blocks.
    if (vector.blocks === undefined || vector.genesisRLP === undefined) continue;
    if (!file.includes(only) && !name.includes(only)) continue;
    const fault = faultOf(vector, evm);
    yield fault === undefined ? { name } : { name, fault };
  }
}

/** What goes otherwise than the vector says, or undefined. */
function faultOf(vector: Vector, evm: Evm): string | undefined {
  const config = configOfNetwork(vector.network);
  if (!config) return `unknown network ${vector.network}`;
  const nodes = createMemoryNodes();
  const stateTrie = createStateTrie(nodes, { cacheBytes: 200_000 });
  const rootOf = (alloc: GenesisAlloc) => {
    const update = stateTrie.update(EMPTY_TRIE_ROOT, changesOfAlloc(alloc));
    nodes.keep(update.nodes);
    return update.root;
  };

  const alloc = allocFromJson(vector.pre);
  const genesis = decodeBlock(hexToBytes(vector.genesisRLP));
  if (rootOf(alloc) !== genesis.header.stateRoot) return "genesis has another state root";
  const chain = createChain(genesis, createMemoryState(alloc));

  for (const [index, { rlp, expectException }] of vector.blocks.entries()) {
    let accept = () => {};
    const refusals = refusalsOf(() => {
      const block = decodeBlock(hexToBytes(rlp));
      const steps = chain.begin(block, { config, evm, stateTrie });
      accept = () => nodes.keep(steps.accept());
      return [steps.validateHeader, steps.validateBody, steps.execute];
    });
    if (refusals.length === 0) accept();
    const refused = `block ${index} refused with ${refusals}`;
    if (!expectException) {
      if (refusals.length > 0) return refused;
      continue;
    }
    if (refusals.length === 0) return `block ${index} accepted, want ${expectException}`;
    if (!refusals.some((refusal) => matches(refusal, expectException))) {
      return `${refused}, want ${expectException}`;
    }
  }

  const head = chain.head();
  if (head.hash !== vector.lastblockhash) return `head ${head.hash}, want ${vector.lastblockhash}`;
  const { postState, postStateHash } = vector;
  const want = postStateHash ?? (postState && rootOf(allocFromJson(postState)));
  if (head.header.stateRoot !== want) return `state root ${head.header.stateRoot}, want ${want}`;
  return undefined;
}

/**
 * The rules a block breaks: the first one, and where that is the transactions root, the next. Vectors with a transaction that
 * can not be in its block were filled without it, so their root is wrong as well.
 */
function refusalsOf(begin: () => readonly (() => void)[]): string[] {
  const refusals: string[] = [];
  try {
    for (const step of begin()) {
      try {
        step();
      } catch (error) {
        refusals.push(codeOf(error));
        if (refusals.at(-1) !== "BLOCK_INVALID_TRANSACTIONS_ROOT") break;
      }
    }
  } catch (error) {
    refusals.push(codeOf(error));
  }
  return refusals;
}

/** The rule that was broken; of a transaction that can not be in its block, the transaction's. */
function codeOf(error: unknown): string {
  if (!(error instanceof NodeError)) throw error;
  if (error.code === "BLOCK_INVALID_TRANSACTION") return String(error.details["reason"]);
  return error.code;
}

/** A vector has many names for bytes that are no block; any failure to decode is as good. */
function matches(refusal: string, expectException: string): boolean {
  const codes = codesOf(expectException);
  if (codes.includes(refusal)) return true;
  const isEncodingFault = !refusal.startsWith("TX_") && !refusal.startsWith("BLOCK_");
  return isEncodingFault && codes.some((code) => code.startsWith("BLOCK_RLP_"));
}

/** All accepted blocks; the head is the one with most difficulty behind it, among equals the longest chain, then the first. */
function createChain(genesis: Block, state: StateReader) {
  const blocks = new Map<Hash, Imported>();
  const totalDifficulty = genesis.header.difficulty;
  blocks.set(genesis.hash, { block: genesis, state, totalDifficulty });
  let head = blocks.get(genesis.hash)!;

  const hashOf = (parentHash: Hash) => (number: number) => {
    for (let at = blocks.get(parentHash); at; at = blocks.get(at.block.header.parentHash)) {
      if (at.block.header.number === number) return at.block.hash;
    }
    return undefined;
  };

  return {
    head: () => head.block,
    /** What is to be done with `block`, in order; `accept` makes it part of the chain and returns the new nodes of the state trie. */
    begin(block: Block, modules: ExecutionModules) {
      const { parentHash } = block.header;
      const parent = blocks.get(parentHash);
      if (!parent) throw new InvalidBlockError("BLOCK_UNKNOWN_PARENT", "unknown ancestor");
      const { header } = parent.block;
      let outcome: BlockOutcome;
      return {
        validateHeader: () => validateHeader(block.header, header, modules.config),
        validateBody: () => validateBody(block, modules.config, (hash) => blocks.get(hash)?.block),
        execute() {
          const blockHash = hashOf(parentHash);
          outcome = executeBlock(block, { header, state: parent.state, blockHash }, modules);
        },
        accept() {
          const totalDifficulty = parent.totalDifficulty + block.header.difficulty;
          const imported = { block, state: outcome.state, totalDifficulty };
          blocks.set(block.hash, imported);
          const isBetter =
            totalDifficulty > head.totalDifficulty ||
            (totalDifficulty === head.totalDifficulty && block.header.number > head.block.header.number);
          if (isBetter) head = imported;
          return outcome.trie.nodes;
        },
      };
    },
  };
}
