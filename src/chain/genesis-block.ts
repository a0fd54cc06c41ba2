import { INITIAL_BASE_FEE } from "../params/fees.ts";
import type { Genesis } from "../params/genesis.ts";
import { hardforkAt } from "../params/hardfork-at.ts";
import { isAtLeast } from "../params/hardforks.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { ZERO_HASH } from "../primitives/hash.ts";
import { changesOfAlloc } from "../state/genesis-alloc.ts";
import type { StateTrie } from "../state/state-trie.ts";
import type { TrieNode } from "../trie/node-store.ts";
import { BLOOM_LENGTH } from "../types/bloom.ts";
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../types/constants.ts";
import type { Header } from "../types/header.ts";
import { headerHash } from "../types/header-codec.ts";
import type { BlockRecord } from "./block-store.ts";

/** Block 0 as geth makes it of the same genesis file, with the trie nodes of its state. */
export function genesisBlock(
  genesis: Genesis,
  stateTrie: Pick<StateTrie, "update">,
): { readonly record: BlockRecord; readonly nodes: readonly TrieNode[] } {
  const changes = changesOfAlloc(genesis.alloc);
  const { root, nodes } = stateTrie.update(EMPTY_TRIE_ROOT, changes);
  const header: Header = {
    parentHash: genesis.parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: genesis.coinbase,
    stateRoot: root,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(BLOOM_LENGTH),
    difficulty: genesis.difficulty,
    number: genesis.number,
    gasLimit: genesis.gasLimit,
    gasUsed: genesis.gasUsed,
    timestamp: genesis.timestamp,
    extraData: genesis.extraData,
    mixHash: genesis.mixHash,
    nonce: genesis.nonce,
    ...forkFields(genesis),
  };
  const isShanghai = header.withdrawalsRoot !== undefined;
  return {
    record: {
      block: {
        hash: headerHash(header),
        header,
        transactions: [],
        uncles: [],
        ...(isShanghai && { withdrawals: [] }),
      },
      senders: [],
      receipts: [],
      changes,
      consensusData: EMPTY_BYTES,
    },
    nodes,
  };
}

/** Header fields of the forks that are active in block 0. */
function forkFields(genesis: Genesis): Partial<Header> {
  const { config, number, timestamp, difficulty } = genesis;
  const hardfork = hardforkAt(config, { number, timestamp, difficulty });
  return {
    ...(isAtLeast(hardfork, "london") && {
      baseFeePerGas: genesis.baseFeePerGas ?? INITIAL_BASE_FEE,
    }),
    ...(isAtLeast(hardfork, "shanghai") && { withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT }),
    ...(isAtLeast(hardfork, "cancun") && {
      blobGasUsed: genesis.blobGasUsed ?? 0n,
      excessBlobGas: genesis.excessBlobGas ?? 0n,
      parentBeaconBlockRoot: ZERO_HASH,
    }),
    ...(isAtLeast(hardfork, "prague") && { requestsHash: EMPTY_REQUESTS_HASH }),
  };
}
