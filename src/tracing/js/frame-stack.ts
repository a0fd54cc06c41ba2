import type { FrameStart } from "../../evm/tracer.ts";
import type { Address } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";

/** What a running frame was given, as CALLER, CALLVALUE and CALLDATA show it. */
export type FrameInput = {
  readonly caller: Address;
  readonly value: bigint;
  readonly input: Uint8Array;
};

/** The frames that are open, from a tracer's hooks. */
type FrameStack = {
  enter(start: FrameStart): void;
  exit(): void;
  /** The innermost one; undefined before the first. */
  top(): FrameInput | undefined;
};

export function createFrameStack(): FrameStack {
  const frames: FrameInput[] = [];
  return {
    enter({ type, from, value, input }) {
      const parent = frames.at(-1);
      const isCreation = type === "CREATE" || type === "CREATE2";
      const own = isCreation ? EMPTY_BYTES : input;
      // DELEGATECALL runs with its parent's caller and value.
      if (type === "DELEGATECALL" && parent) frames.push({ ...parent, input: own });
      else frames.push({ caller: from, value: type === "STATICCALL" ? 0n : value, input: own });
    },
    exit() {
      frames.pop();
    },
    top: () => frames.at(-1),
  };
}
