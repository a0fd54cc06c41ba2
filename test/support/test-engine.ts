import { freePort } from "./free-port.ts";

/** web3.js gives a transaction up after 50 blocks, which at a faster pace is less than a loaded machine needs. */
const BLOCK_TIME = "500ms";

const isNetwork = process.env["TEST_ENGINE"] === "cometbft";

/** `skip` of a test that makes or removes blocks by hand. */
export const NEEDS_SOLO = isNetwork && "left out: the validators of a network decide its blocks";

/**
 * Settings of a test node under the engine that `TEST_ENGINE` names: `TEST_ENGINE=cometbft npm test -- test/e2e/viem.test.ts` runs
 * a file over nodes that are the only validator of a CometBFT network. Nodes whose blocks a test times itself stay under the solo engine.
 * @param settings of the test, by key
 */
export async function engineSettings(
  settings: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const { "consensus.block-time": blockTime = "instant" } = settings;
  if (!isNetwork || blockTime !== "instant") return {};
  return {
    "consensus.engine": "cometbft",
    "consensus.block-time": BLOCK_TIME,
    "cometbft.p2p-address": `127.0.0.1:${await freePort()}`,
    "cometbft.local-net": "true",
  };
}
