import type { ChainView } from "../../ports/chain-view.ts";
import { boolean, jsonInteger } from "../../transport/codec.ts";
import { bothNames, controlMethods, lenientCount } from "./control-methods.ts";

/** The timestamp of block 0, in Unix seconds, as a JSON integer. */
export const genesisTime = controlMethods({
  names: ["anvil_getGenesisTime"],
  params: {},
  result: jsonInteger,
  async handle(_params, { chain }: { readonly chain: Pick<ChainView, "header"> }) {
    const genesis = await chain.header({ at: 0 });
    return genesis?.header.timestamp ?? null;
  },
});

/** Moves the clock forward; returns its total offset from the system clock in seconds, as a JSON integer. */
export const increaseTime = controlMethods({
  names: ["evm_increaseTime", "anvil_increaseTime"],
  params: { seconds: lenientCount },
  result: jsonInteger,
  handle: ({ seconds }, { dev }) => dev.increaseTime({ seconds }),
});

/**
 * Sets the clock to Unix seconds; returns the seconds it moved, as a JSON integer. Under anvil's name, returns 0 if the clock moved back,
 * as anvil does.
 */
export const setTime = controlMethods({
  names: ["evm_setTime", "anvil_setTime"],
  params: { timestamp: lenientCount },
  result: jsonInteger,
  async handle({ timestamp }, { dev }, name) {
    const moved = await dev.setTime({ timestamp });
    return name === "anvil_setTime" ? Math.max(0, moved) : moved;
  },
});

/** Sets the timestamp of the next block, in Unix seconds; the clock continues from there. */
export const setNextBlockTimestamp = controlMethods({
  names: ["evm_setNextBlockTimestamp", "anvil_setNextBlockTimestamp"],
  params: { timestamp: lenientCount },
  handle: ({ timestamp }, { dev }) => dev.setNextBlock({ timestamp }),
});

/** Sets the seconds between the timestamps of consecutive blocks, regardless of the clock. */
export const setBlockTimestampInterval = controlMethods({
  names: ["anvil_setBlockTimestampInterval", "evm_setBlockTimestampInterval"],
  params: { seconds: lenientCount },
  handle: ({ seconds }, { dev }) => dev.configure({ timestampInterval: seconds }),
});

/** Sets the milliseconds between the timestamps of consecutive blocks; viem calls this on Hardhat nodes. */
export const setBlockTimestampIntervalMs = controlMethods({
  names: ["hardhat_setBlockTimestampInterval"],
  params: { milliseconds: lenientCount },
  handle: ({ milliseconds }, { dev }) =>
    dev.configure({ timestampInterval: Math.max(1, Math.round(milliseconds / 1000)) }),
});

/** Undoes `anvil_setBlockTimestampInterval`; returns whether an interval was set. */
export const removeBlockTimestampInterval = controlMethods({
  names: bothNames("removeBlockTimestampInterval"),
  params: {},
  result: boolean,
  async handle(_params, { dev }) {
    const { timestampInterval } = await dev.settings();
    await dev.configure({ timestampInterval: undefined });
    return timestampInterval !== undefined;
  },
});
