import type { ChainReader } from "../../../chain/reader.ts";
import { EMPTY_ACCOUNT } from "../../../state/account.ts";
import { EMPTY_TRIE_ROOT } from "../../../types/constants.ts";
import { PendingProofError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { dataText, plainText, quantityText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, optional, rawJson } from "../../params/codec.ts";
import { resolveState } from "../../ports/resolve.ts";

/**
 * `eth_getAccount`: the account as it stands in the state trie after `block`; null where there is none.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingProofError
 */
export const getAccount = defineMethod({
  name: "eth_getAccount",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: rawJson,
  heavy: true,
  handle({ account, block }, { chain }: { chain: ChainReader }) {
    if (block === "pending") throw new PendingProofError();
    const { executed, state } = resolveState(chain, block);
    const found = state.account(account);
    if (!found) return "null";
    const { storageRoot } = chain.proofAt(executed.block.header.number, account, []);
    const { balance, codeHash, nonce } = found;
    return (
      `{"balance":${quantityText(balance)},"codeHash":${plainText(codeHash)}` +
      `,"nonce":${quantityText(nonce)},"storageRoot":${plainText(storageRoot ?? EMPTY_TRIE_ROOT)}}`
    );
  },
});

/**
 * `eth_getAccountInfo`: balance, nonce and code of `account` after `block` at once.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getAccountInfo = defineMethod({
  name: "eth_getAccountInfo",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: rawJson,
  handle({ account, block }, { chain }: { chain: ChainReader }) {
    const { state } = resolveState(chain, block);
    const { balance, nonce, codeHash } = state.account(account) ?? EMPTY_ACCOUNT;
    return (
      `{"balance":${quantityText(balance)},"nonce":${quantityText(nonce)}` +
      `,"code":${dataText(state.code(codeHash))}}`
    );
  },
});
