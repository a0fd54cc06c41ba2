import type { CallArguments } from "../../../execution/call/call-arguments.ts";
import { assertSubmittable } from "../../../mempool/submission.ts";
import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { TransactionFieldsError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { signedTransactionText } from "../../json/transaction-json.ts";
import { dataText } from "../../json/write.ts";
import { callArguments } from "../../params/call-arguments.ts";
import { type JsonText, rawJson } from "../../params/codec.ts";
import type { RpcSettings } from "../../ports/rpc-ports.ts";
import { type DefaultsModules, fillTransactionFields } from "../submit/transaction-defaults.ts";
import { type SignDigest, type SignerModules, signFields } from "./sign-fields.ts";

export type SignTransactionModules = DefaultsModules & {
  readonly settings: Pick<RpcSettings, "submissionRules">;
};

/**
 * `eth_signTransaction`: the signed transaction, which goes nowhere. Gas, price and nonce are never made up here.
 *
 * @throws TransactionFieldsError, UnknownAccountError, AccountLockedError, FeeCapExceededError
 */
export const signTransaction = defineMethod({
  name: "eth_signTransaction",
  params: { request: callArguments },
  result: rawJson,
  heavy: true,
  handle({ request }, modules: SignTransactionModules & SignerModules) {
    const from = request.from ?? ZERO_ADDRESS;
    return signedTransaction(request, modules, (digest) =>
      modules.keys.signTransaction(from, digest),
    );
  },
});

/**
 * `{raw, tx}` of the signed request.
 * @throws TransactionFieldsError, FeeCapExceededError, and what `sign` throws
 */
export async function signedTransaction(
  request: CallArguments,
  modules: SignTransactionModules,
  sign: SignDigest,
): Promise<JsonText> {
  if (request.gas === undefined) throw new TransactionFieldsError("gas not specified");
  if (
    request.gasPrice === undefined &&
    (request.maxFeePerGas === undefined || request.maxPriorityFeePerGas === undefined)
  ) {
    throw new TransactionFieldsError("missing gasPrice or maxFeePerGas/maxPriorityFeePerGas");
  }
  if (request.nonce === undefined) throw new TransactionFieldsError("nonce not specified");
  const fields = await fillTransactionFields(request, modules);
  const tx = await signFields(fields, sign);
  assertSubmittable(tx, modules.settings.submissionRules);
  return `{"raw":${dataText(tx.raw)},"tx":${signedTransactionText(tx)}}`;
}
