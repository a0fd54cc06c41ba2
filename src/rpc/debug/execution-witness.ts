import type { ExecutionWitness } from "../../chain/inspect/execution-witness.ts";
import { headerHash } from "../../types/header-codec.ts";
import { defineMethod } from "../dispatch/method.ts";
import { headerText } from "../json/block-json.ts";
import { joinedJson } from "../json/write.ts";
import { byHash } from "../params/block-selector.ts";
import { hash, type JsonText, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { InspectionPort } from "../ports/inspection.ts";
import { DebugError } from "./errors.ts";
import { numberOrTag } from "./inspect/number-or-tag.ts";

type Modules = {
  readonly chain: Pick<ChainView, "header">;
  readonly inspection: Pick<InspectionPort, "executionWitness">;
};

/**
 * `debug_executionWitness`: what executing a block without a state needs: headers back to the oldest that BLOCKHASH named, codes, and
 * trie nodes of the parent's state. `keys` is null, as in geth.
 *
 * @throws DebugError, TraceTooLargeError
 */
export const executionWitness = defineMethod({
  name: "debug_executionWitness",
  params: { block: numberOrTag },
  result: rawJson,
  heavy: true,
  async handle({ block }, modules: Modules) {
    const sealed = await modules.chain.header(block === "pending" ? "latest" : block);
    if (sealed === undefined) throw new DebugError(`block number ${numberText(block)} not found`);
    return witnessText(sealed.header.number, modules);
  },
});

/** `debug_executionWitnessByHash`: the same, the block by its hash. */
export const executionWitnessByHash = defineMethod({
  name: "debug_executionWitnessByHash",
  params: { blockHash: hash },
  result: rawJson,
  heavy: true,
  async handle({ blockHash }, modules: Modules) {
    const sealed = await modules.chain.header(byHash(blockHash));
    if (sealed === undefined) throw new DebugError(`block hash ${blockHash.slice(2)} not found`);
    return witnessText(sealed.header.number, modules);
  },
});

async function witnessText(number: number, { inspection }: Modules): Promise<JsonText> {
  if (number === 0) throw new DebugError("block number 0x0 found, but parent missing");
  return textOf(await inspection.executionWitness(number));
}

function textOf({ headers, codes, nodes }: ExecutionWitness): JsonText {
  const style = { nullPowFields: false };
  const shown = headers.map((header) => headerText({ hash: headerHash(header), header }, style));
  return joinedJson(
    `{"headers":[${shown.join(",")}],"codes":`,
    ...bytesList(codes),
    ',"state":',
    ...bytesList(nodes),
    ',"keys":null}',
  );
}

function bytesList(items: readonly Uint8Array[]): readonly string[] {
  const texts = items.map(
    (item, i) => `${i === 0 ? "" : ","}"0x${Buffer.from(item).toString("hex")}"`,
  );
  return ["[", ...texts, "]"];
}

function numberText(block: number | string): string {
  return typeof block === "number" ? `0x${block.toString(16)}` : block;
}
