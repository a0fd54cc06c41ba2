import { DecodedValues } from "./decoded-values.ts";
import type { BlockIndex } from "./index/block-index.ts";

/** A client that traces a block mostly asks for its neighbours too, or for the same block again. */
const STATES_MAX = 8;

export type DecodedState = Pick<DecodedValues, "account" | "storage">;

type VersionedState = {
  readonly accounts: Pick<BlockIndex["accounts"], "at">;
  readonly slots: Pick<BlockIndex["slots"], "at">;
};

/**
 * What was read of the states after older blocks, decoded, of those used last. Reading one value costs a row, a record of the log and
 * two checksums; a trace of a block reads each of its accounts and slots again (`npm run bench -- trace`).
 *
 * Values of a block never change, so nothing is to be forgotten until blocks are rolled back.
 */
export class HistoricStates {
  readonly #index: VersionedState;
  readonly #assertNotPruned: (number: number) => void;
  readonly #statesMax: number;
  /** Of each state. */
  readonly #bytesMax: number;
  /** Least recently used first. */
  readonly #states = new Map<number, DecodedValues>();

  /**
   * @param assertNotPruned throws where the state after block `number` may have been removed
   * @param bytesMax memory of all states together
   */
  constructor(
    index: VersionedState,
    assertNotPruned: (number: number) => void,
    bytesMax: number,
    { statesMax = STATES_MAX } = {},
  ) {
    this.#index = index;
    this.#assertNotPruned = assertNotPruned;
    this.#statesMax = statesMax;
    this.#bytesMax = Math.floor(bytesMax / statesMax);
  }

  /** Memory of what is decoded. */
  get bytes(): number {
    let bytes = 0;
    for (const state of this.#states.values()) bytes += state.bytes;
    return bytes;
  }

  /** The state after block `number`, which must not be newer than the index. */
  at(number: number): DecodedState {
    const state = this.#states.get(number) ?? this.#open(number);
    this.#states.delete(number);
    this.#states.set(number, state);
    if (this.#states.size > this.#statesMax) {
      const [leastUsed] = this.#states.keys();
      this.#states.delete(leastUsed!);
    }
    return state;
  }

  /** Blocks were rolled back: there may be others with their numbers. */
  forget(): void {
    this.#states.clear();
  }

  #open(number: number): DecodedValues {
    const { accounts, slots } = this.#index;
    /** Asserts after the read, failed or not: what was removed before it is known to be removed by then. */
    const valuesOf = (table: VersionedState["accounts"]) => ({
      latest: (key: Uint8Array) => {
        try {
          return table.at(key, number);
        } finally {
          this.#assertNotPruned(number);
        }
      },
    });
    return new DecodedValues(
      { accounts: valuesOf(accounts), slots: valuesOf(slots) },
      this.#bytesMax,
    );
  }
}
