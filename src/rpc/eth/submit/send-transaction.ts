import type { CallArguments } from "../../../execution/call/call-arguments.ts";
import { type Address, ZERO_ADDRESS } from "../../../primitives/address.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { TransactionFieldsError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { callArguments } from "../../params/call-arguments.ts";
import { hash } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";
import { type SignDigest, type SignerModules, signFields } from "../sign/sign-fields.ts";
import { type DefaultsModules, fillTransactionFields } from "./transaction-defaults.ts";

/** The service's default gas limit; a transaction that needs more gets its estimate. */
const DEFAULT_GAS = 90_000n;

export type SendModules = DefaultsModules & {
  readonly chain: Pick<ChainView, "submit">;
  readonly sessions: Pick<Sessions, "sendLock">;
};

/**
 * `eth_sendTransaction`: fills in what is missing, signs with an account of the node and submits; the hash.
 *
 * @throws UnknownAccountError, AccountLockedError, TransactionFieldsError, and what estimating and submitting throw
 */
export const sendTransaction = defineMethod({
  name: "eth_sendTransaction",
  params: { request: callArguments },
  result: hash,
  heavy: true,
  async handle({ request }, modules: SendModules & SignerModules) {
    const { keys } = modules;
    const from = request.from ?? ZERO_ADDRESS;
    await keys.assertKnown(from);
    return sendSigned(request, from, modules, (digest) => keys.signTransaction(from, digest));
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
  request: CallArguments,
  from: Address,
  modules: SendModules,
  sign: SignDigest,
): Promise<Hash> {
  if (request.blobVersionedHashes !== undefined) {
    throw new TransactionFieldsError("signing blob transactions not supported");
  }
  async function send() {
    const fields = await fillTransactionFields({ ...request, from }, modules, DEFAULT_GAS);
    return modules.chain.submit((await signFields(fields, sign)).raw);
  }
  return request.nonce === undefined ? modules.sessions.sendLock.run(from, send) : send();
}
