import { EMPTY_TRIE_ROOT } from "../../../types/constants.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { plainText, quantityText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, optional, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_getAccount`: the account as the state trie has it after `block`; null where there is none.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingProofError
 */
export const getAccount = defineMethod({
  name: "eth_getAccount",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: rawJson,
  heavy: true,
  handle: ({ account, block }, { chain }: { chain: Pick<ChainView, "proof"> }) =>
    andThen(chain.proof(account, [], block), ({ account: found, proof }) => {
      if (!found) return "null";
      const { balance, codeHash, nonce } = found;
      return (
        `{"balance":${quantityText(balance)},"codeHash":${plainText(codeHash)}` +
        `,"nonce":${quantityText(nonce)}` +
        `,"storageRoot":${plainText(proof.storageRoot ?? EMPTY_TRIE_ROOT)}}`
      );
    }),
});
