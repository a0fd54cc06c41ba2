import type { Hash } from "../primitives/hash.ts";
import type { StateReader } from "../state/reader.ts";

/** The chain that this one continues from a block on, for what is not stored here. */
export type RemoteChain = {
  /** `state`, the stored one after block `number`, over the remote chain's state at the fork. */
  under(number: number, state: StateReader): StateReader;
  /** Hash of a block before the fork; undefined: none */
  hashAt(number: number): Hash | undefined;
};
