import type { Signature } from "../../../base/crypto/secp256k1-backend.ts";
import { ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { bigintToFixedBytes, concatBytes } from "../../../base/primitives/bytes.ts";
import { keccak256InSteps } from "../../../base/primitives/keccak.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import type { MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { TransactionFields } from "../../../base/types/transaction/codec.ts";
import { buildTransaction } from "../../../base/types/transaction/encode.ts";
import { legacyV } from "../../../base/types/transaction/legacy.ts";
import { signingHash } from "../../../base/types/transaction/sign.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import { assertSubmittable } from "../../../consensus/mempool/submission.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import { address, data, type JsonText, json, rawJsonOf } from "../../transport/codec.ts";
import { aliasMethod } from "../../transport/dispatch/method.ts";
import { TransactionFieldsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { SIGNED_TRANSACTION } from "../json/schemas.ts";
import { signedTransactionText } from "../json/transaction-json.ts";
import { dataText } from "../json/write.ts";
import { callArguments } from "../params/call-arguments.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { fillTransactionFields } from "./transaction-defaults.ts";
import { typedDataHash } from "./typed-data.ts";

/**
 * The 32 bytes signed for `message` (EIP-191, version 0x45): keccak256(0x19 ‖ chainName ‖ " Signed Message:\n" ‖ length ‖ message).
 * The chain's name is "Ethereum", unless wallets and contracts of the chain agree on another one.
 */
export function messageHash({ settings, sessions }: ServingPorts, message: Uint8Array): MaybePromise<Uint8Array> {
  const prefix = Buffer.from(`\u0019${settings.chainName} Signed Message:\n${message.length}`);
  return inSlices(keccak256InSteps(concatBytes(prefix, message)), sessions.slices.hash);
}

/** r ‖ s ‖ v with v 27 or 28: 65 bytes, as wallets expect a message signature. */
export function signatureBytes({ r, s, yParity }: Signature): Uint8Array {
  return concatBytes(bigintToFixedBytes(r, 32), bigintToFixedBytes(s, 32), Uint8Array.of(27 + yParity));
}

/**
 * `eth_sign`: signature of an unlocked account over the prefixed message; 65 bytes, v 27 or 28.
 *
 * @throws UnknownAccountError, AccountLockedError
 */
export const sign = defineMethod({
  name: "eth_sign",
  params: { account: address, message: data },
  example: [SAMPLE.alice, "0x68656c6c6f"],
  result: data,
  async handle({ account, message }, modules) {
    // What is hashed may be large: not for an account that the node does not have.
    await modules.keys.assertKnown({ address: account });
    const digest = await messageHash(modules, message);
    return signatureBytes(await modules.keys.sign({ address: account, digest }));
  },
});

/**
 * `eth_signTypedData_v4`: signature of an unlocked account over EIP-712 data, given as object or as JSON text.
 *
 * @throws TypedDataError, InvalidParamsError for too much of it, UnknownAccountError, AccountLockedError
 */
export const signTypedDataV4 = defineMethod({
  name: "eth_signTypedData_v4",
  params: { account: address, typedData: json },
  example: [SAMPLE.alice, SAMPLE.typedData],
  result: data,
  async handle({ account, typedData }, { keys, sessions }) {
    await keys.assertKnown({ address: account });
    const digest = await inSlices(typedDataHash(typedData), sessions.slices.hash);
    return signatureBytes(await keys.sign({ address: account, digest }));
  },
});

/** The name before versions. */
export const signTypedData = aliasMethod(signTypedDataV4, "eth_signTypedData");

/**
 * `eth_signTransaction`: signs a transaction without sending it. The caller has to give gas, price and nonce.
 *
 * @throws TransactionFieldsError, UnknownAccountError, AccountLockedError, FeeCapExceededError
 */
export const signTransaction = defineMethod({
  name: "eth_signTransaction",
  params: { request: callArguments },
  example: [{ ...SAMPLE.call, gas: "0x5208", gasPrice: "0x3b9aca00", nonce: "0x0", chainId: "0x7a69" }],
  result: rawJsonOf(SIGNED_TRANSACTION),
  heavy: true,
  handle({ request }, modules) {
    const from = request.from ?? ZERO_ADDRESS;
    return signedTransaction(request, modules, (digest) => modules.keys.signTransaction({ address: from, digest }));
  },
});

/**
 * `{raw, tx}` of the signed request.
 * @throws TransactionFieldsError, FeeCapExceededError, and what `sign` throws
 */
export async function signedTransaction(
  request: CallArguments,
  modules: ServingPorts,
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

/** Signs 32 bytes with an account that is settled, and may say no. */
export type SignDigest = (digest: Uint8Array) => Signature | Promise<Signature>;

/** The transaction with a signature. @throws what `sign` throws */
export async function signFields(fields: TransactionFields, sign: SignDigest): Promise<Transaction> {
  const { r, s, yParity } = await sign(signingHash(fields));
  const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
  return buildTransaction(fields, { v, r, s });
}
