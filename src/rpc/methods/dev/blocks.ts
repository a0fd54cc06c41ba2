import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { MineRequest } from "../../../dev/dev-chain.ts";
import { DevControlError } from "../../../dev/dev-settings.ts";
import { byHash } from "../../ports/block-selector.ts";
import {
  address,
  boolean,
  hash,
  jsonInteger,
  jsonString,
  nullable,
  optional,
  type ParamCodec,
  string,
} from "../../transport/codec.ts";
import { aliasMethod } from "../../transport/dispatch/method.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineForwardedMethod } from "../define-method.ts";
import { BLOCK, listOf } from "../json/schemas.ts";
import { bothNames, controlMethods, lenientCount, lenientNumber } from "./control-methods.ts";

/** A time in Unix seconds, or `{timestamp?, blocks?}` as ganache has it. */
const mineOptions: ParamCodec<MineRequest> = {
  schema: {
    oneOf: [
      lenientCount.schema!,
      {
        title: "MineOptions",
        type: "object",
        properties: { timestamp: lenientCount.schema, blocks: lenientCount.schema },
      },
    ],
  },
  decode(value, field) {
    if (typeof value !== "object" || value === null) {
      return { blocks: 1, timestamp: lenientCount.decode(value, field) };
    }
    if (Array.isArray(value)) throw new InvalidValueError("expected a timestamp or an object");
    const { timestamp, blocks } = value as { timestamp?: unknown; blocks?: unknown };
    return {
      blocks: blocks == null ? 1 : lenientCount.decode(blocks, "blocks"),
      ...(timestamp != null && { timestamp: lenientCount.decode(timestamp, "timestamp") }),
    };
  },
};

const evmMineParams = { options: optional(mineOptions, { blocks: 1 }) };

/** `evm_mine`: mines one block now, or the given number of blocks; returns "0x0". */
export const evmMine = controlMethods({
  names: ["evm_mine"],
  params: evmMineParams,
  result: string,
  async handle({ options }, { dev }) {
    await dev.mine(options);
    return "0x0";
  },
});

/** Mines one block now, or the given number; returns the blocks with full transactions. */
export const evmMineDetailed = controlMethods({
  names: ["evm_mine_detailed", "anvil_mine_detailed"],
  params: evmMineParams,
  result: { schema: listOf(BLOCK) },
  async handle({ options }, { dev, chain, sessions }) {
    const blocks = [];
    for (const hash of await dev.mine(options)) {
      const block = await chain.block({ at: byHash(hash) });
      if (block) blocks.push(JSON.parse(jsonString(await sessions.blockJson.get(block, "full"))));
    }
    return blocks;
  },
});

const mineParams = {
  blocks: optional(lenientCount, 1),
  intervalSeconds: optional(lenientCount, 0),
};

/** `hardhat_mine`: mines the given number of blocks now, 1 by default, `intervalSeconds` apart. */
export const hardhatMine = controlMethods({
  names: ["hardhat_mine"],
  params: mineParams,
  async handle({ blocks, intervalSeconds }, { dev }) {
    await dev.mine({ blocks, intervalSeconds });
  },
});

/** `anvil_mine`: mines the given number of blocks now, 1 by default, `intervalSeconds` apart, also from the head to the first block. */
export const anvilMine = controlMethods({
  names: ["anvil_mine"],
  params: mineParams,
  async handle({ blocks, intervalSeconds }, { dev }) {
    await dev.mine({ blocks, intervalSeconds, spacesFirst: true });
  },
});

/** Mines one block now, as interval mining would; true. */
export const intervalMine = controlMethods({
  names: ["hardhat_intervalMine"],
  params: {},
  result: boolean,
  async handle(_params, { dev }) {
    await dev.mine({ blocks: 1 });
    return true;
  },
});

/** `hardhat_getAutomine`: whether transactions are mined on arrival; Ignition then does not wait for confirmations. */
export const hardhatGetAutomine = defineForwardedMethod({
  name: "hardhat_getAutomine",
  params: {},
  result: boolean,
  private: true,
  handle: (_params, { node }) => andThen(node.devChain(), ({ isAutomine }) => isAutomine),
});

export const anvilGetAutomine = aliasMethod(hardhatGetAutomine, "anvil_getAutomine");

/** Sets whether transactions are mined on arrival. In anvil's dialect, true disables interval mining. */
export const setAutomine = controlMethods({
  names: ["evm_setAutomine", "anvil_setAutomine"],
  params: { automine: boolean },
  handle: ({ automine }, { dev, settings }) =>
    dev.configure({ automine, ...(automine && settings.isAnvil && { intervalMs: 0 }) }),
});

/** Seconds between blocks of interval mining, as a JSON integer; null if it is disabled. */
export const getIntervalMining = controlMethods({
  names: ["anvil_getIntervalMining"],
  params: {},
  result: nullable(jsonInteger),
  async handle(_params, { dev }) {
    const { intervalMs = 0 } = await dev.settings();
    // A fraction of a second is 0 in anvil's answer, which has only whole seconds.
    return intervalMs === 0 ? null : Math.floor(intervalMs / 1000);
  },
});

/**
 * Sets the milliseconds between blocks of interval mining, as in Hardhat; 0 disables it. In anvil's dialect this is
 * `anvil_setIntervalMining`, because viem sends this name to both nodes in their own unit.
 */
export const setIntervalMining = controlMethods({
  names: ["evm_setIntervalMining"],
  params: { interval: lenientCount },
  handle: ({ interval }, { dev, settings }) =>
    dev.configure(settings.isAnvil ? intervalOf(interval) : { intervalMs: interval }),
});

/** Sets the seconds between blocks of interval mining; 0 disables it. Transactions then wait for the next interval. */
export const setIntervalMiningSeconds = controlMethods({
  names: ["anvil_setIntervalMining"],
  params: { seconds: lenientCount },
  handle: ({ seconds }, { dev }) => dev.configure(intervalOf(seconds)),
});

function intervalOf(seconds: number) {
  return { intervalMs: 1000 * seconds, automine: seconds === 0 };
}

/** Sets the gas limit of the next and all later blocks; true. */
export const setBlockGasLimit = controlMethods({
  names: ["evm_setBlockGasLimit", "anvil_setBlockGasLimit", "hardhat_setBlockGasLimit"],
  params: { gasLimit: lenientNumber },
  result: boolean,
  async handle({ gasLimit }, { dev }) {
    await dev.configure({ gasLimit });
    return true;
  },
});

/** Sets the address that receives the tips of the next and all later blocks. */
export const setCoinbase = controlMethods({
  names: bothNames("setCoinbase"),
  params: { coinbase: address },
  handle: ({ coinbase }, { dev }) => dev.configure({ coinbase }),
});

/**
 * Sets the pool's minimum gas price, in wei, on a chain before London.
 *
 * @throws DevControlError where blocks have a base fee: nothing cheaper is included there anyway
 */
export const setMinGasPrice = controlMethods({
  names: bothNames("setMinGasPrice"),
  params: { gasPrice: lenientNumber },
  async handle({ gasPrice }, { dev, chain }, name) {
    const { header } = await chain.head();
    if (header.baseFeePerGas !== undefined) {
      throw new DevControlError(`${name} is not supported when EIP-1559 is active`);
    }
    await dev.configure({ minimumGasPrice: gasPrice });
  },
});

/** Sets the base fee of the next block, in wei; the blocks after it follow the fee market. */
export const setNextBlockBaseFeePerGas = controlMethods({
  names: bothNames("setNextBlockBaseFeePerGas"),
  params: { baseFeePerGas: lenientNumber },
  handle: ({ baseFeePerGas }, { dev }) => dev.setNextBlock({ baseFeePerGas }),
});

/** Sets prevRandao of the next block. */
export const setPrevRandao = controlMethods({
  names: bothNames("setPrevRandao"),
  params: { prevRandao: hash },
  handle: ({ prevRandao }, { dev }) => dev.setNextBlock({ prevRandao }),
});

/**
 * Sets the slot number of the next block; later blocks count up from it. Contracts read it with SLOTNUM from Amsterdam on.
 *
 * @throws DevControlError where the slot is not after the head's, or the chain has no slots
 */
export const setNextSlotNumber = controlMethods({
  names: ["evmint_setNextSlotNumber"],
  params: { slotNumber: lenientNumber },
  handle: ({ slotNumber }, { dev }) => dev.setNextBlock({ slotNumber }),
});
