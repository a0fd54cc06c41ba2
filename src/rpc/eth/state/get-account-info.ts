import { EMPTY_ACCOUNT } from "../../../state/account.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { dataText, quantityText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, optional, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_getAccountInfo`: balance, nonce and code of `account` after `block` at once.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getAccountInfo = defineMethod({
  name: "eth_getAccountInfo",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: rawJson,
  handle: ({ account, block }, { chain }: { chain: Pick<ChainView, "accountWithCode"> }) =>
    andThen(chain.accountWithCode(account, block), ({ account: found, code }) => {
      const { balance, nonce } = found ?? EMPTY_ACCOUNT;
      return (
        `{"balance":${quantityText(balance)},"nonce":${quantityText(nonce)}` +
        `,"code":${dataText(code)}}`
      );
    }),
});
