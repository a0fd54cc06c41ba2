import { ZERO_ADDRESS } from "../../../primitives/address.ts";
import { buildTransaction } from "../../../types/transaction/encode.ts";
import { impersonatingSignature } from "../../../types/transaction/impersonation.ts";
import { legacyV } from "../../../types/transaction/legacy.ts";
import { defineMethod } from "../../dispatch/method.ts";
import {
  type DefaultsModules,
  fillTransactionFields,
} from "../../eth/submit/transaction-defaults.ts";
import { callArguments } from "../../params/call-arguments.ts";
import { hash } from "../../params/codec.ts";
import type { DevModules } from "../control-methods.ts";

/** `eth_sendUnsignedTransaction`: sends for any account, contracts too, without a key; the hash. */
export const sendUnsignedTransaction = defineMethod({
  name: "eth_sendUnsignedTransaction",
  params: { request: callArguments },
  result: hash,
  private: true,
  heavy: true,
  async handle({ request }, modules: DevModules & DefaultsModules) {
    const from = request.from ?? ZERO_ADDRESS;
    const fields = await fillTransactionFields({ ...request, from }, modules);
    const { r, s, yParity } = impersonatingSignature(from);
    const v = fields.type === 0 ? legacyV(fields.chainId, yParity) : BigInt(yParity);
    return modules.dev.submitUnsigned(buildTransaction(fields, { v, r, s }).raw);
  },
});
