import { buildTransaction } from "../../types/transaction/encode.ts";
import { callRequest } from "../call-request.ts";
import { rawJson } from "../codec.ts";
import { signedTransactionText } from "../json/transaction-json.ts";
import { dataText } from "../json/write.ts";
import { defineMethod } from "../method.ts";
import { type DefaultsModules, fillTransactionFields } from "./transaction-defaults.ts";

/**
 * `eth_fillTransaction`: the transaction with everything filled in but the signature, whose members are 0.
 *
 * @throws TransactionFieldsError, and what estimating throws
 */
export const fillTransaction = defineMethod({
  name: "eth_fillTransaction",
  params: { request: callRequest },
  result: rawJson,
  heavy: true,
  async handle({ request }, modules: DefaultsModules) {
    const fields = await fillTransactionFields(request, modules);
    // A legacy transaction says its chain only in a signature's v (EIP-155), which it does not have yet.
    const unsigned = fields.type === 0 ? { ...fields, chainId: undefined } : fields;
    const tx = buildTransaction(unsigned, { v: 0n, r: 0n, s: 0n });
    return `{"raw":${dataText(tx.raw)},"tx":${signedTransactionText(tx)}}`;
  },
});
