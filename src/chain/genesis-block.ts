import type { Genesis } from "../params/genesis.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { changesOfAlloc } from "../state/genesis-alloc.ts";
import type { StateTrie } from "../state/state-trie.ts";
import type { NodeBatch } from "../trie/node-batch.ts";
import { EMPTY_TRIE_ROOT } from "../types/constants.ts";
import { genesisHeader } from "../types/genesis-header.ts";
import { headerHash } from "../types/header-codec.ts";
import type { BlockRecord } from "./store/block-store.ts";

/** Block 0 as geth makes it of the same genesis file, with the trie nodes of its state. */
export function genesisBlock(
  genesis: Genesis,
  stateTrie: Pick<StateTrie, "update">,
): { readonly record: BlockRecord; readonly nodes: NodeBatch } {
  const changes = changesOfAlloc(genesis.alloc);
  const { root, nodes } = stateTrie.update(EMPTY_TRIE_ROOT, changes);
  const header = genesisHeader(genesis, root);
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
