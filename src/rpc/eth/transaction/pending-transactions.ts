import type { AccountSigner } from "../../../keystore/account-signer.ts";
import type { PoolReader } from "../../../mempool/pool.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { transactionText } from "../../json/transaction-json.ts";
import { rawJson } from "../../params/codec.ts";

/** `eth_pendingTransactions`: the pool's executable transactions of the accounts this node signs for. */
export const pendingTransactions = defineMethod({
  name: "eth_pendingTransactions",
  params: {},
  result: rawJson,
  async handle(_params, { pool, signer }: { pool: PoolReader; signer: AccountSigner }) {
    const accounts = await signer.accounts();
    const texts = accounts
      .flatMap((account) => pool.contentFrom(account).pending)
      .map(({ tx, sender }) => transactionText(tx, sender));
    return `[${texts.join(",")}]`;
  },
});
