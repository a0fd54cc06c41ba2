import { INITIAL_BASE_FEE } from "../base/params/fees.ts";
import type { Genesis } from "../base/params/genesis.ts";
import { isBlockForkActive, isTimeForkActive } from "../base/params/hardforks.ts";
import { EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, ZERO_HASH } from "../base/primitives/hash.ts";
import { EMPTY_BLOCK_ACCESS_LIST_HASH, encodeBlockAccessList } from "../base/types/block-access-list.ts";
import { BLOOM_LENGTH } from "../base/types/bloom.ts";
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../base/types/constants.ts";
import type { Header } from "../base/types/header.ts";
import { headerHash } from "../base/types/header-codec.ts";
import { changesOfAlloc } from "../evm/state/state-changes.ts";
import { HASH_ONLY } from "../store/trie/ordered-trie-root.ts";
import type { BlockRecord, GenesisState } from "./block-store.ts";
import { encodeChanges } from "./records/changes-record.ts";
import { StateEntries } from "./records/state-entries.ts";
import { buildStateTrie, stateKeys } from "./store/nodes/build-state-trie.ts";

/** Block 0 as geth makes it of the same genesis file. */
export function genesisBlock(genesis: Genesis): Omit<BlockRecord, "changes"> {
  const { state, blockOf } = genesisState(genesis);
  return blockOf(hashFromBytes(rootOf(state())));
}

/** The same with all of its state. */
export function genesisRecord(genesis: Genesis): BlockRecord {
  return { ...genesisBlock(genesis), changes: changesOfAlloc(genesis.alloc) };
}

/** The same for an empty store, which computes the root of the state as it writes it. */
export function genesisState(genesis: Genesis): GenesisState {
  return {
    state: () => encodeChanges(changesOfAlloc(genesis.alloc)),
    blockOf(stateRoot) {
      const header = genesisHeader(genesis, stateRoot);
      const isShanghai = header.withdrawalsRoot !== undefined;
      return {
        block: {
          hash: headerHash(header),
          header,
          transactions: [],
          uncles: [],
          ...(isShanghai && { withdrawals: [] }),
        },
        senders: [],
        receipts: [],
        consensusData: EMPTY_BYTES,
        ...(header.blockAccessListHash !== undefined && { accessList: encodeBlockAccessList([]) }),
      };
    },
  };
}

/** @param state as `encodeChanges` has it */
function rootOf(state: Uint8Array): Uint8Array {
  const entries = new StateEntries(state);
  const { order, ...keys } = stateKeys(entries);
  return buildStateTrie({ entries, keys, order, sinkOf: () => HASH_ONLY });
}

/** What geth takes for a gas limit of 0. */
const DEFAULT_GAS_LIMIT = 4_712_388n;

/**
 * The header of block 0 over the state `genesis.alloc` gives. Which optional fields it has follows from the fork times
 * alone, as in geth: also a chain that starts before the merge has withdrawals in block 0 when Shanghai is at time 0.
 */
export function genesisHeader(genesis: Genesis, stateRoot: Hash): Header {
  const { config, timestamp } = genesis;
  const isLondon = isBlockForkActive(config, "londonBlock", 0);
  const since = (field: "shanghaiTime" | "cancunTime" | "pragueTime" | "amsterdamTime") =>
    isLondon && isTimeForkActive(config, field, timestamp);
  return {
    parentHash: genesis.parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: genesis.coinbase,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(BLOOM_LENGTH),
    difficulty: genesis.difficulty,
    number: 0,
    gasLimit: genesis.gasLimit === 0n ? DEFAULT_GAS_LIMIT : genesis.gasLimit,
    gasUsed: genesis.gasUsed,
    timestamp,
    extraData: genesis.extraData,
    mixHash: genesis.mixHash,
    nonce: genesis.nonce,
    ...(isLondon && { baseFeePerGas: genesis.baseFeePerGas ?? INITIAL_BASE_FEE }),
    ...(since("shanghaiTime") && { withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT }),
    ...(since("cancunTime") && {
      blobGasUsed: genesis.blobGasUsed ?? 0n,
      excessBlobGas: genesis.excessBlobGas ?? 0n,
      parentBeaconBlockRoot: ZERO_HASH,
    }),
    ...(since("pragueTime") && { requestsHash: EMPTY_REQUESTS_HASH }),
    ...(since("amsterdamTime") && {
      blockAccessListHash: EMPTY_BLOCK_ACCESS_LIST_HASH,
      slotNumber: genesis.slotNumber ?? 0n,
    }),
  };
}
