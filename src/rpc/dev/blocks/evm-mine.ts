import type { MineRequest } from "../../../dev/dev-chain.ts";
import { InvalidValueError } from "../../dispatch/errors.ts";
import type { BlockModules } from "../../eth/block/block-modules.ts";
import { byHash } from "../../params/block-selector.ts";
import { jsonString, optional, type ParamCodec, string } from "../../params/codec.ts";
import { MINED_BLOCKS } from "../../result-schemas.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

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
    if (Array.isArray(value)) throw new InvalidValueError("a time or an object is wanted");
    const { timestamp, blocks } = value as { timestamp?: unknown; blocks?: unknown };
    return {
      blocks: blocks == null ? 1 : lenientCount.decode(blocks, "blocks"),
      ...(timestamp != null && { timestamp: lenientCount.decode(timestamp, "timestamp") }),
    };
  },
};

const params = { options: optional(mineOptions, { blocks: 1 }) };

/** `evm_mine`: makes one block now, or as many as asked for; "0x0". */
export const evmMine = controlMethods({
  names: ["evm_mine"],
  params,
  result: string,
  async handle({ options }, { dev }: DevModules) {
    await dev.mine(options);
    return "0x0";
  },
});

/** The same; the blocks with whole transactions. */
export const evmMineDetailed = controlMethods({
  names: ["evm_mine_detailed", "anvil_mine_detailed"],
  params,
  result: MINED_BLOCKS,
  async handle({ options }, { dev, chain, sessions }: DevModules & BlockModules) {
    const blocks = [];
    for (const hash of await dev.mine(options)) {
      const block = await chain.block(byHash(hash));
      if (block) blocks.push(JSON.parse(jsonString(await sessions.blockJson.get(block, "full"))));
    }
    return blocks;
  },
});
