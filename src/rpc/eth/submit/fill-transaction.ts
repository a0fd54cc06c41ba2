import { buildTransaction, encodePooledTransaction } from "../../../types/transaction/encode.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { signedTransactionText } from "../../json/transaction-json.ts";
import { dataText } from "../../json/write.ts";
import { callArguments } from "../../params/call-arguments.ts";
import { rawJson } from "../../params/codec.ts";
import type { BlobProver } from "../../ports/tools.ts";
import { withBlobFields } from "./blob-fields.ts";
import { type DefaultsModules, fillTransactionFields } from "./transaction-defaults.ts";

/**
 * `eth_fillTransaction`: the transaction with everything filled in but the signature, whose members are 0. Blobs come with
 * commitments and proofs, in the form of the head's fork.
 *
 * @throws TransactionFieldsError, and what estimating throws
 */
export const fillTransaction = defineMethod({
  name: "eth_fillTransaction",
  params: { request: callArguments },
  result: rawJson,
  heavy: true,
  async handle({ request }, modules: DefaultsModules & { readonly tools: BlobProver }) {
    const { request: withHashes, sidecar } = await withBlobFields(request, modules);
    const { blobs: _blobs, ...described } = withHashes;
    const fields = await fillTransactionFields(described, modules);
    // A legacy transaction says its chain only in a signature's v (EIP-155), which it does not have yet.
    const unsigned = fields.type === 0 ? { ...fields, chainId: undefined } : fields;
    const tx = buildTransaction(unsigned, { v: 0n, r: 0n, s: 0n });
    const raw = dataText(encodePooledTransaction(tx, sidecar));
    return `{"raw":${raw},"tx":${signedTransactionText(tx, sidecar)}}`;
  },
});
