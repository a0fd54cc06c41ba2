import { parseGenesis } from "../../src/base/params/genesis.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import type { Block } from "../../src/base/types/block.ts";
import { decodeTransaction } from "../../src/base/types/transaction/decode.ts";
import { createChain } from "../../src/chain/chain.ts";
import { genesisState } from "../../src/chain/genesis-block.ts";
import { deferOn } from "../../src/chain/store/background-work.ts";
import { createMemoryBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createBlockFactory } from "../../src/consensus/pending-block.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { BLOCK_GAS_LIMIT, type SignedTransaction } from "./workload.ts";

/** A block, with its encoded access list from Amsterdam on. */
type MadeBlock = { readonly block: Block; readonly accessList: Uint8Array | undefined };

/** The transactions as a chain in memory on the genesis, `count` in each block. */
export function* memoryBlocks(
  genesisJson: string,
  transactions: readonly SignedTransaction[],
  count: number,
): Generator<MadeBlock> {
  const genesis = parseGenesis(genesisJson);
  const store = createMemoryBlockStore({ createTrie: createStateTrie, defer: deferOn(fatalTimers) });
  const stateTrie = createStateTrie(store.trieNodes);
  store.appendGenesis(genesisState(genesis));
  const chain = createChain({ config: genesis.config, store, stateTrie, log: SILENT_LOGGER });
  const begin = createBlockFactory(chain, { config: chain.config, stateTrie, evm: createEvm() });
  for (let at = 0; at < transactions.length; at += count) {
    const builder = begin({
      timestamp: chain.head().block.header.timestamp + 1,
      feeRecipient: `0x${"aa".repeat(20)}` as Address,
      gasLimit: BigInt(BLOCK_GAS_LIMIT),
    });
    for (const { raw } of transactions.slice(at, at + count)) builder.add(decodeTransaction(hexToBytes(raw)));
    const { executed, changes, nodes, accessList } = builder.seal();
    chain.commit({ ...executed, changes, consensusData: EMPTY_BYTES, accessList }, nodes);
    yield { block: executed.block, accessList };
  }
  store.close();
}
