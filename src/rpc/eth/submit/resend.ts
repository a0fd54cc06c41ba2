import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { equalBytes } from "../../../primitives/bytes.ts";
import { buildTransaction } from "../../../types/transaction/encode.ts";
import { signingHash } from "../../../types/transaction/sign.ts";
import { TransactionFieldsError, TransactionNotFoundError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { callArguments } from "../../params/call-arguments.ts";
import { hash, optional, quantity, quantity64 } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { type SignerModules, signFields } from "../sign/sign-fields.ts";
import { type DefaultsModules, fillTransactionFields } from "./transaction-defaults.ts";

/**
 * `eth_resend`: replaces a pending transaction of an account of the node, which `request` describes, by one with another price or gas
 * limit; the new hash.
 *
 * @throws TransactionFieldsError, TransactionNotFoundError, and what signing and submitting throw
 */
export const resend = defineMethod({
  name: "eth_resend",
  params: { request: callArguments, gasPrice: optional(quantity), gas: optional(quantity64) },
  result: hash,
  heavy: true,
  async handle(
    { request, gasPrice, gas },
    modules: DefaultsModules &
      SignerModules & { readonly chain: Pick<ChainView, "submit" | "poolContentFrom"> },
  ) {
    const { keys, chain } = modules;
    if (request.nonce === undefined) {
      throw new TransactionFieldsError("missing transaction nonce in transaction spec");
    }
    const from = request.from ?? ZERO_ADDRESS;
    const fields = await fillTransactionFields(request, modules);
    const described = signingHash(fields);
    const { pending } = await chain.poolContentFrom(from);
    const isThere = pending.some(({ tx }) => equalBytes(signingHash(tx), described));
    if (!isThere) {
      throw new TransactionNotFoundError(buildTransaction(fields, { v: 0n, r: 0n, s: 0n }).hash);
    }
    const priced =
      gasPrice === undefined || gasPrice === 0n
        ? fields
        : "gasPrice" in fields
          ? { ...fields, gasPrice }
          : { ...fields, maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice };
    const replacement = gas === undefined || gas === 0n ? priced : { ...priced, gasLimit: gas };
    const tx = await signFields(replacement, (digest) => keys.signTransaction(from, digest));
    return chain.submit(tx.raw);
  },
});
