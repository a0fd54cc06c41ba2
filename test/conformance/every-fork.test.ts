import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseGenesis } from "../../src/base/params/genesis.ts";
import { HARDFORKS, type Hardfork, hardforkAt } from "../../src/base/params/hardforks.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import type { Block } from "../../src/base/types/block.ts";
import { decodeBlockAt } from "../../src/base/types/block-codec.ts";
import { EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import { genesisRecord } from "../../src/chain/genesis-block.ts";
import { executeBlock } from "../../src/evm/execution/block/execute-block.ts";
import { validateBody } from "../../src/evm/execution/validation/validate-body.ts";
import { validateHeader } from "../../src/evm/execution/validation/validate-header.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { fixture, skipWithout } from "../support/fixtures.ts";
import { createMemoryNodes } from "../support/store/trie/memory-nodes.ts";
import { createEngine } from "./engines.ts";

const directory = fixture("rpc-compat");
const skip = skipWithout(directory, "rpc-compat");

for (const engine of ["ethereumjs", "evmint", "evmint-recorded"]) {
  test(`the recorded chain of execution-apis is valid from Homestead to Osaka, on ${engine}`, {
    skip,
  }, async () => {
    const genesis = parseGenesis(readFileSync(join(directory!, "genesis.json"), "utf8"));
    const bytes = new Uint8Array(readFileSync(join(directory!, "chain.rlp")));
    const { config } = genesis;
    const evm = await createEngine(engine);
    const nodes = createMemoryNodes();
    const stateTrie = createStateTrie(nodes, { cacheBytes: 1 << 20 });
    const state = createMemoryState(genesis.alloc);
    const first = genesisRecord(genesis);
    nodes.keep(stateTrie.update(EMPTY_TRIE_ROOT, first.changes).nodes);
    const chain: Block[] = [first.block];
    const byHash = new Map<Hash, Block>([[first.block.hash, first.block]]);
    const forks = new Set<Hardfork>();

    for (let offset = 0; offset < bytes.length; ) {
      const { block, end } = decodeBlockAt(bytes, offset);
      const { header } = chain.at(-1)!;
      validateHeader(block.header, header, config);
      validateBody(block, config, (hash) => byHash.get(hash));
      const blockHash = (number: number) => chain[number]?.hash;
      const outcome = executeBlock(block, { header, state, blockHash }, { config, evm, stateTrie });
      nodes.keep(outcome.trie.nodes);
      state.apply(outcome.changes);
      chain.push(block);
      byHash.set(block.hash, block);
      forks.add(hardforkAt(config, block.header));
      offset = end;
    }

    assert.ok(chain.length > 40);
    assert.deepEqual([...forks], HARDFORKS.slice(1, HARDFORKS.indexOf("osaka") + 1));
  });
}
