import type { AccountSigner } from "../../../keystore/account-signer.ts";
import { type Address, ZERO_ADDRESS } from "../../../primitives/address.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { TransactionFieldsError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { type CallRequest, callRequest } from "../../params/call-request.ts";
import { hash } from "../../params/codec.ts";
import type { Submit } from "../../ports/execution.ts";
import { type SignDigest, signFields } from "../sign/sign-fields.ts";
import type { KeyedLock } from "./keyed-lock.ts";
import { type DefaultsModules, fillTransactionFields } from "./transaction-defaults.ts";

/** The service's default gas limit; a transaction that needs more gets its estimate. */
const DEFAULT_GAS = 90_000n;

export type SendModules = DefaultsModules & {
  readonly submit: Submit;
  readonly sendLock: KeyedLock;
};

/**
 * `eth_sendTransaction`: fills in what is missing, signs with an account of the node and submits; the hash.
 *
 * @throws UnknownAccountError, AccountLockedError, TransactionFieldsError, and what estimating and submitting throw
 */
export const sendTransaction = defineMethod({
  name: "eth_sendTransaction",
  params: { request: callRequest },
  result: hash,
  heavy: true,
  async handle({ request }, modules: SendModules & { readonly signer: AccountSigner }) {
    const { signer } = modules;
    const from = request.from ?? ZERO_ADDRESS;
    await signer.assertKnown(from);
    return sendSigned(request, from, modules, (digest) => signer.sign(from, digest));
  },
});

/**
 * Fills in what `request` lacks, signs and submits; the hash.
 *
 * Without a nonce, transactions of one account go one after the other, so that each sees the nonce of the one before.
 *
 * @throws TransactionFieldsError, and what `sign`, estimating and submitting throw
 */
export async function sendSigned(
  request: CallRequest,
  from: Address,
  modules: SendModules,
  sign: SignDigest,
): Promise<Hash> {
  if (request.blobVersionedHashes !== undefined) {
    throw new TransactionFieldsError("signing blob transactions not supported");
  }
  async function send() {
    const fields = await fillTransactionFields({ ...request, from }, modules, DEFAULT_GAS);
    return modules.submit((await signFields(fields, sign)).raw);
  }
  return request.nonce === undefined ? modules.sendLock.run(from, send) : send();
}
