import type { Genesis } from "../params/genesis.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashFromBytes } from "../primitives/hash.ts";
import type { StateChanges } from "../state/reader.ts";
import { changesOfAlloc } from "../state/state-changes.ts";
import { HASH_ONLY } from "../trie/ordered-trie-root.ts";
import { genesisHeader } from "../types/genesis-header.ts";
import { headerHash } from "../types/header-codec.ts";
import { encodeChanges } from "./records/changes-record.ts";
import { StateEntries } from "./records/state-entries.ts";
import type { BlockRecord, GenesisState } from "./store/block-store.ts";
import { buildStateTrie, stateKeys } from "./store/nodes/build-state-trie.ts";

/** Block 0 as geth makes it of the same genesis file. */
export function genesisBlock(genesis: Genesis): BlockRecord {
  const { changes: makeChanges, blockOf } = genesisState(genesis);
  const changes = makeChanges();
  return { ...blockOf(hashFromBytes(stateRootOf(changes))), changes };
}

/** The same for an empty store, which computes the root of the state as it writes it. */
export function genesisState(genesis: Genesis): GenesisState {
  return {
    changes: () => changesOfAlloc(genesis.alloc),
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
      };
    },
  };
}

/** Root of the state that consists of `changes`. */
export function stateRootOf(changes: StateChanges): Uint8Array {
  const entries = new StateEntries(encodeChanges(changes), 0);
  return buildStateTrie(entries, stateKeys(entries), () => HASH_ONLY);
}
