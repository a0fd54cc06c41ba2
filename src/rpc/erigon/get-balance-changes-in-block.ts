import { UnknownBlockError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { quantityText } from "../json/write.ts";
import { blockSelector } from "../params/block-selector.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { InspectionPort } from "../ports/inspection.ts";

/**
 * `erigon_getBalanceChangesInBlock`: the new balance, in wei, of each account whose balance a block changed, by address. Empty for
 * genesis, which has no state before it.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingUnavailableError
 */
export const getBalanceChangesInBlock = defineMethod({
  name: "erigon_getBalanceChangesInBlock",
  params: { block: blockSelector },
  result: rawJson,
  heavy: true,
  async handle(
    { block },
    {
      chain,
      inspection,
    }: {
      chain: Pick<ChainView, "header" | "account">;
      inspection: Pick<InspectionPort, "modifiedAccounts">;
    },
  ) {
    const sealed = await chain.header(block);
    if (!sealed) throw new UnknownBlockError("header not found");
    const { number } = sealed.header;
    if (number === 0) return "{}";
    const members: string[] = [];
    for (const address of await inspection.modifiedAccounts(number - 1, number)) {
      const before = (await chain.account(address, number - 1))?.balance ?? 0n;
      const after = (await chain.account(address, number))?.balance ?? 0n;
      if (before !== after) members.push(`"${address}":${quantityText(after)}`);
    }
    return `{${members.join(",")}}`;
  },
});
