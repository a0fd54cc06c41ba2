import type { AccountSigner } from "../../keystore/account-signer.ts";
import { UnknownAccountError } from "../../keystore/errors.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { callRequest } from "../call-request.ts";
import { hash } from "../codec.ts";
import { TransactionFieldsError } from "../errors.ts";
import type { KeyedLock } from "../keyed-lock.ts";
import { defineMethod } from "../method.ts";
import type { Submit } from "../ports.ts";
import { signFields } from "./sign-fields.ts";
import { type DefaultsModules, fillTransactionFields } from "./transaction-defaults.ts";

/** The service's default gas limit; a transaction that needs more gets its estimate. */
const DEFAULT_GAS = 90_000n;

/**
 * `eth_sendTransaction`: fills in what is missing, signs with an account of the node and submits; the hash.
 *
 * Without a nonce, transactions of one account go one after the other, so that each sees the nonce of the one before.
 *
 * @throws UnknownAccountError, AccountLockedError, TransactionFieldsError, and what estimating and submitting throw
 */
export const sendTransaction = defineMethod({
  name: "eth_sendTransaction",
  params: { request: callRequest },
  result: hash,
  async handle(
    { request },
    modules: DefaultsModules & { signer: AccountSigner; submit: Submit; sendLock: KeyedLock },
  ) {
    const { signer, submit, sendLock } = modules;
    const from = request.from ?? ZERO_ADDRESS;
    if (!signer.accounts().includes(from)) throw new UnknownAccountError(from);
    if (request.blobVersionedHashes !== undefined) {
      throw new TransactionFieldsError("signing blob transactions not supported");
    }
    async function send() {
      const fields = await fillTransactionFields(request, modules, DEFAULT_GAS);
      return submit(signFields(fields, from, signer).raw);
    }
    return request.nonce === undefined ? sendLock.run(from, send) : send();
  },
});
