import type { Checkpoint } from "../../les/checkpoints/checkpoint.ts";
import type { Address } from "../../primitives/address.ts";
import type { MaybePromise } from "../ports/maybe-promise.ts";

/** Service for light clients. Plain data only. */
export interface LesPort {
  /** @throws NoCheckpointError */
  latestCheckpoint(): MaybePromise<Checkpoint>;
  /** @throws NoCheckpointError */
  checkpoint(index: number): MaybePromise<Checkpoint>;
  /**
   * Nodes that prove the hash of block `number` under the `chtRoot` of section `index`.
   * @throws NoCheckpointError
   */
  proveHash(index: number, number: number): MaybePromise<readonly Uint8Array[]>;
  /** undefined: no contract is configured */
  checkpointOracle(): MaybePromise<Address | undefined>;
}
