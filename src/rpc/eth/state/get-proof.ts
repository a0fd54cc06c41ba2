import { bytesToBigint } from "../../../primitives/bytes.ts";
import { hashToBytes, ZERO_HASH } from "../../../primitives/hash.ts";
import { InvalidParamsError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { dataText, plainText, quantityText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, array, nullAs, optional, rawJson, string } from "../../params/codec.ts";
import { parseStorageKey } from "../../params/storage-key.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** geth's: each key is a walk through the storage trie. */
const KEYS_MAX = 1024;

/**
 * `eth_getProof`: Merkle proofs (EIP-1186) of an account and some of its slots against the state root of `block`.
 *
 * A key that had exactly 32 bytes is echoed so, any other as QUANTITY; so geth's clients match answers to their questions.
 *
 * @throws InvalidParamsError, UnknownBlockError, BlockNotCanonicalError, PendingProofError
 */
export const getProof = defineMethod({
  name: "eth_getProof",
  params: {
    account: address,
    keys: nullAs(array(string, "[]string"), []),
    block: optional(blockSelector, "latest"),
  },
  result: rawJson,
  heavy: true,
  handle({ account, keys, block }, { chain }: { chain: Pick<ChainView, "proof"> }) {
    if (keys.length > KEYS_MAX) {
      throw new InvalidParamsError(
        `too many storage keys requested (max ${KEYS_MAX}, got ${keys.length})`,
      );
    }
    const slots = keys.map(parseStorageKey);
    return andThen(chain.proof(account, slots, block), ({ account: found, proof }) => {
      const storage = proof.storageProofs.map(
        ({ value, proof: nodes }, i) =>
          `{"key":${echoedKey(keys[i]!, slots[i]!)},"value":${quantityText(value)},"proof":${nodesText(nodes)}}`,
      );
      return (
        `{"address":"${account}","accountProof":${nodesText(proof.accountProof)}` +
        `,"balance":${quantityText(found?.balance ?? 0n)}` +
        `,"codeHash":${plainText(found?.codeHash ?? ZERO_HASH)}` +
        `,"nonce":${quantityText(found?.nonce ?? 0n)}` +
        `,"storageHash":${plainText(proof.storageRoot ?? ZERO_HASH)}` +
        `,"storageProof":[${storage.join(",")}]}`
      );
    });
  },
});

function echoedKey(key: string, slot: ReturnType<typeof parseStorageKey>): string {
  const digits = key.replace(/^0[xX]/, "");
  return digits.length === 64 ? plainText(slot) : quantityText(bytesToBigint(hashToBytes(slot)));
}

function nodesText(nodes: readonly Uint8Array[]): string {
  return `[${nodes.map(dataText).join(",")}]`;
}
