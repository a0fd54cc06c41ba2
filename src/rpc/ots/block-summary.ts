import { blockReward } from "../../execution/block/rewards.ts";
import { hardforkAt } from "../../params/hardforks.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import { quantityText } from "../json/write.ts";
import { jsonString } from "../params/codec.ts";
import type { ChainConstants } from "../ports/chain-view.ts";
import type { Sessions } from "../ports/rpc-ports.ts";

type BlockObject = Record<string, unknown> & { readonly transactions: readonly unknown[] };

/** The block as `eth_getBlockByNumber` shows it, with the number of its transactions and without its bloom filter. */
export function blockObject(
  executed: ExecutedBlock,
  isFull: boolean,
  { blockJson }: Pick<Sessions, "blockJson">,
): BlockObject {
  const object = JSON.parse(
    jsonString(blockJson.get(executed, isFull ? "full" : "hashes")),
  ) as BlockObject;
  const transactionCount = executed.block.transactions.length;
  return { ...object, logsBloom: null, transactionCount };
}

/** `{block, issuance, totalFees}` of a block. */
export function blockDetails(
  executed: ExecutedBlock,
  { config }: ChainConstants,
  sessions: Pick<Sessions, "blockJson">,
): string {
  const { transactions: _, ...block } = blockObject(executed, false, sessions);
  const { header, uncles } = executed.block;
  const reward = header.number === 0 ? 0n : blockReward(hardforkAt(config, header));
  const inclusion = (reward / 32n) * BigInt(uncles.length);
  const uncleReward = uncles.reduce(
    (sum, { number }) => sum + (reward * BigInt(number + 8 - header.number)) / 8n,
    0n,
  );
  const minerReward = reward + inclusion;
  const fees = executed.receipts.reduce(
    (sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice,
    0n,
  );
  return (
    `{"block":${JSON.stringify(block)},"issuance":{"blockReward":${quantityText(minerReward)}` +
    `,"uncleReward":${quantityText(uncleReward)},"issuance":${quantityText(minerReward + uncleReward)}}` +
    `,"totalFees":${quantityText(fees)}}`
  );
}
