import { readFileSync } from "node:fs";
import { createChain } from "../../src/chain/chain.ts";
import { genesisBlock } from "../../src/chain/genesis-block.ts";
import { importBlock } from "../../src/chain/import-block.ts";
import { createMemoryBlockStore } from "../../src/chain/open-block-store.ts";
import type { ChainReader } from "../../src/chain/reader.ts";
import { createEthereumjsEvm } from "../../src/evm/ethereumjs/evm.ts";
import { createUnlockedSigner } from "../../src/keystore/account-signer.ts";
import { parseGenesis } from "../../src/params/genesis.ts";
import { ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { BlockJsonCache } from "../../src/rpc/json/block-json-cache.ts";
import { KeyedLock } from "../../src/rpc/keyed-lock.ts";
import { createMethodRegistry, type RpcModules } from "../../src/rpc/methods.ts";
import { startRpcServer } from "../../src/rpc/server.ts";
import { createStateTrie } from "../../src/state/merkle-state-trie.ts";
import { decodeBlockAt } from "../../src/types/block-codec.ts";

export type RecordedChain = { readonly url: string; stop(): Promise<void> };

/**
 * Serves the chain of a geth genesis file and an RLP chain file over HTTP on a free port, from memory.
 *
 * This is the seam to the composed node: until `src/node/` can start one from these two files, the parts are put together here, and
 * what belongs to a running node (pool, calls, fee oracle) is absent.
 */
export async function startRecordedChain(options: {
  readonly genesisFile: string;
  readonly chainFile: string;
}): Promise<RecordedChain> {
  const genesis = parseGenesis(readFileSync(options.genesisFile, "utf8"));
  const store = createMemoryBlockStore({ createTrie: createStateTrie });
  const stateTrie = createStateTrie(store.trieNodes);
  const { record, nodes } = genesisBlock(genesis, stateTrie);
  store.append(record, nodes);
  const chain = createChain({ config: genesis.config, store, stateTrie });
  const evm = await createEthereumjsEvm();
  const file = readFileSync(options.chainFile);
  for (let offset = 0; offset < file.length; ) {
    const { block, end } = decodeBlockAt(file, offset);
    importBlock(chain, block, { config: genesis.config, evm, stateTrie });
    offset = end;
  }

  const reader: ChainReader = {
    ...chain,
    pending: () => ({
      executed: chain.head(),
      state: chain.stateAt(chain.head().block.header.number),
    }),
  };
  const modules = {
    chain: reader,
    node: {
      clientVersion: "Evmint/test",
      networkId: genesis.config.chainId,
      protocolVersion: 69,
      peerCount: () => 0,
      isListening: () => true,
      coinbase: () => ZERO_ADDRESS,
      syncProgress: () => undefined,
    },
    blockJson: new BlockJsonCache({ bytesMax: 1 << 20, nullPowFields: false }),
    signer: createUnlockedSigner([]),
    passphraseSigner: undefined,
    chainName: "Ethereum",
    sendLock: new KeyedLock(),
  } as unknown as RpcModules;
  const server = await startRpcServer(
    {
      http: {
        host: "127.0.0.1",
        port: 0,
        namespaces: ["eth", "net", "web3", "debug", "txpool", "testing"],
      },
    },
    { registry: createMethodRegistry(), modules },
  );
  return { url: server.urls.http!, stop: () => server.close(0) };
}
