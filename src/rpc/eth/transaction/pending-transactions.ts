import { defineMethod } from "../../dispatch/method.ts";
import { transactionText } from "../../json/transaction-json.ts";
import { rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { KeysPort } from "../../ports/keys.ts";

/** `eth_pendingTransactions`: the pool's executable transactions of the accounts this node signs for. */
export const pendingTransactions = defineMethod({
  name: "eth_pendingTransactions",
  params: {},
  result: rawJson,
  async handle(
    _params,
    {
      chain,
      keys,
    }: { chain: Pick<ChainView, "poolContentFrom">; keys: Pick<KeysPort, "accounts"> },
  ) {
    const accounts = await keys.accounts();
    const contents = await Promise.all(accounts.map((account) => chain.poolContentFrom(account)));
    const texts = contents
      .flatMap(({ pending }) => pending)
      .map(({ tx, sender }) => transactionText(tx, sender));
    return `[${texts.join(",")}]`;
  },
});
