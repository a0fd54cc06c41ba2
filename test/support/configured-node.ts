import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAddress } from "../../src/base/primitives/address.ts";
import type { DevHardfork } from "../../src/node/config/dev-rules.ts";
import { DEFAULT_CHAIN_ID, renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { DEV_BALANCE } from "../../src/node/keystore/dev-accounts.ts";
import { DEV_ADDRESSES } from "./accounts.ts";
import { startTestNode, type TestNode, type TestNodeOptions } from "./test-node.ts";

/**
 * A real node as `evmintd init` sets it up, whose listeners are not a dev chain's: it asks for tokens and holds no unlocked account. The first
 * three dev accounts own something; keys are encrypted at the light cost and blocks made at once.
 * @param hardfork the newest rules; undefined: the default
 */
export async function startConfiguredNode(options: TestNodeOptions = {}, hardfork?: DevHardfork): Promise<TestNode> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), "evmint-configured-"));
  const genesis = renderGenesis({
    chainId: DEFAULT_CHAIN_ID,
    ...(hardfork && { hardfork }),
    timestamp: 1_700_000_000,
    alloc: new Map(DEV_ADDRESSES.map((address) => [parseAddress(address), DEV_BALANCE])),
  });
  mkdirSync(join(home, "config"), { recursive: true });
  writeFileSync(join(home, "config/genesis.json"), genesis);
  const node = await startTestNode({
    ...options,
    home,
    settings: {
      "keystore.strength": "light",
      "consensus.block-time": "instant",
      ...options.settings,
    },
  });
  return {
    ...node,
    async stop() {
      try {
        await node.stop();
      } finally {
        if (!options.home) rmSync(home, { recursive: true, force: true });
      }
    },
  };
}
