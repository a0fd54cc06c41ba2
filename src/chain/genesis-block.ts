import type { Genesis } from "../params/genesis.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashFromBytes } from "../primitives/hash.ts";
import { changesOfAlloc } from "../state/genesis-alloc.ts";
import type { StateChanges } from "../state/reader.ts";
import { ByteWriter } from "../storage/byte-io.ts";
import { HASH_ONLY } from "../trie/ordered-trie-root.ts";
import { genesisHeader } from "../types/genesis-header.ts";
import { headerHash } from "../types/header-codec.ts";
import { writeChanges } from "./records/changes-record.ts";
import { StateEntries } from "./records/state-entries.ts";
import type { BlockRecord } from "./store/block-store.ts";
import { buildStateTrie, stateKeys } from "./store/nodes/build-state-trie.ts";

/** Block 0 as geth makes it of the same genesis file. */
export function genesisBlock(genesis: Genesis): BlockRecord {
  const changes = changesOfAlloc(genesis.alloc);
  const header = genesisHeader(genesis, hashFromBytes(stateRootOf(changes)));
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
    changes,
    consensusData: EMPTY_BYTES,
  };
}

/** Root of the state that consists of `changes`. */
export function stateRootOf(changes: StateChanges): Uint8Array {
  const writer = new ByteWriter(1024 + changes.accounts.length * 64);
  writeChanges(writer, changes, new Set());
  const entries = new StateEntries(writer.finish(), 0);
  return buildStateTrie(entries, stateKeys(entries), () => HASH_ONLY);
}
