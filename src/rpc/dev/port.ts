import type { Hash } from "../../primitives/hash.ts";

/** What a dev chain says about itself to the tools that recognise Hardhat Network and anvil. */
export type DevChainInfo = {
  /** Random, and the same until the chain's data is deleted: deployments recorded under it are still on the chain. */
  readonly instanceId: Hash;
  /** A transaction is mined as soon as it arrives. */
  readonly isAutomine: boolean;
};
