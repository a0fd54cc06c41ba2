import type { Hash } from "../../base/primitives/hash.ts";

/** What a dev chain says about itself to the tools that recognise Hardhat Network and anvil. */
export type DevChainInfo = {
  /** Random, and the same until the chain is reset or its data deleted: deployments recorded under it are still on the chain. */
  readonly instanceId: Hash;
  /** A transaction is mined as soon as it arrives. */
  readonly isAutomine: boolean;
  /** Order of the transactions in a block: by fee, or by arrival. */
  readonly order: "fees" | "fifo";
  /** The block of another chain that this one continues. */
  readonly fork: ForkInfo | undefined;
};

export type ForkInfo = {
  readonly number: number;
  readonly hash: Hash;
  /** A node of the other chain, without what may be a key in its address; undefined: none is asked. */
  readonly url: string | undefined;
};
