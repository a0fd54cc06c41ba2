import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { Header } from "../../base/types/header.ts";
import type { BlockOutcome, ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { executeBlock } from "../../evm/execution/block/execute-block.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import type { TrieNodeReader } from "../../store/trie/node-store.ts";
import type { BlockStore } from "../block-store.ts";
import { createChainStateTrie } from "../chain-state-trie.ts";
import type { ChainReader } from "../reader.ts";

/** All that executing a block again needs besides the block itself. */
export type ExecutionWitness = {
  /** From the parent back to the oldest block that BLOCKHASH named. */
  readonly headers: readonly Header[];
  readonly codes: readonly Uint8Array[];
  /** RLP of nodes of the account trie and of storage tries, on the parent's state. */
  readonly nodes: readonly Uint8Array[];
};

export type WitnessModules = {
  readonly reader: Pick<ChainReader, "stateAt" | "blockHash" | "header">;
  readonly store: Pick<BlockStore, "trieNodes" | "trieNodesAt" | "numberOfState">;
  readonly execution: Omit<ExecutionModules, "stateTrie">;
};

/** Memory of the recording trie, which is used once. */
const CACHE_BYTES = 1 << 20;

/**
 * Executes a block of the chain again and records what it reads from the parent's state, the trie nodes that prove these values, and the
 * nodes from which the new state root is computed.
 *
 * @param modules.evm a fresh one, which has no code cached
 * @param take called with the bytes of each part; throws when the witness gets too large
 * @throws InvalidBlockError if the block changes state beyond what its transactions do
 */
export function executionWitness(
  { block, senders }: Pick<ExecutedBlock, "block" | "senders">,
  modules: WitnessModules,
  take: (bytes: number) => void,
): ExecutionWitness {
  const { reader, store, execution } = modules;
  const parentNumber = block.header.number - 1;
  const parent = reader.header(parentNumber)!;
  const state = recordReads(reader.stateAt(parentNumber), take);
  const nodes = new Map<string, Uint8Array>();
  const recorded = (source: TrieNodeReader) => recordNodes(source, nodes, take);
  const stateTrie = createChainStateTrie(
    {
      trieNodes: recorded(store.trieNodes),
      trieNodesAt: (number) => recorded(store.trieNodesAt(number)),
      numberOfState: (root) => store.numberOfState(root),
    },
    { cacheBytes: CACHE_BYTES },
  );
  let oldest = parentNumber;
  const blockHash = (number: number) => {
    if (number < oldest && number >= 0) oldest = number;
    return reader.blockHash(number);
  };
  executeBlock(
    block,
    { header: parent, state: state.reader, blockHash },
    { ...execution, stateTrie, executesKnownCode: true },
    { senders },
  ) satisfies BlockOutcome;
  for (const [address, slots] of state.slots) {
    stateTrie.prove(parent.stateRoot, address, [...slots]);
  }
  const headers: Header[] = [];
  for (let number = parentNumber; number >= oldest; number--) headers.push(reader.header(number)!);
  return { headers, codes: [...state.codes.values()], nodes: [...nodes.values()] };
}

/** `source` with what is read of it. */
function recordReads(source: StateReader, take: (bytes: number) => void) {
  const slots = new Map<Address, Set<Hash>>();
  const codes = new Map<Hash, Uint8Array>();
  const slotsOf = (address: Address): Set<Hash> => {
    let known = slots.get(address);
    if (known === undefined) {
      known = new Set();
      slots.set(address, known);
    }
    return known;
  };
  const reader: StateReader = {
    account(address) {
      slotsOf(address);
      return source.account(address);
    },
    storage(address, slot) {
      slotsOf(address).add(slot);
      return source.storage(address, slot);
    },
    code(codeHash) {
      const code = source.code(codeHash);
      if (codeHash !== EMPTY_CODE_HASH && !codes.has(codeHash)) {
        take(code.length);
        codes.set(codeHash, code);
      }
      return code;
    },
    *storageEntries(address) {
      for (const entry of source.storageEntries(address)) {
        slotsOf(address).add(entry[0]);
        yield entry;
      }
    },
  };
  return { reader, slots, codes };
}

function recordNodes(
  source: TrieNodeReader,
  nodes: Map<string, Uint8Array>,
  take: (bytes: number) => void,
): TrieNodeReader {
  return {
    node(owner, path, hash) {
      const rlp = source.node(owner, path, hash);
      const key = hexDigits(hash);
      if (rlp !== undefined && !nodes.has(key)) {
        take(rlp.length);
        nodes.set(key, rlp);
      }
      return rlp;
    },
  };
}
