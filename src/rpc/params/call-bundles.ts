import type { CallArgumentsBundle } from "../../execution/call/call-many.ts";
import { LimitExceededError } from "../dispatch/errors.ts";
import { blockSelector } from "./block-selector.ts";
import { blockOverrides, callArguments } from "./call-arguments.ts";
import { array, object, type ParamCodec, quantityNumber, schemaOf } from "./codec.ts";

/** Calls of one request, as many as eth_simulateV1 takes. */
const CALLS_MAX = 10_000;

const bundles = array(
  object("Bundle", { transactions: array(callArguments), blockOverride: blockOverrides }),
);

/** Erigon's bundles of calls; @throws LimitExceededError for more calls than one request may hold */
export const callBundles: ParamCodec<readonly CallArgumentsBundle[]> = {
  ...schemaOf(bundles),
  decode(value, field) {
    const decoded = bundles.decode(value, field).map(({ transactions = [], blockOverride }) => ({
      calls: transactions,
      ...(blockOverride && { blockOverrides: blockOverride }),
    }));
    const count = decoded.reduce((sum, { calls }) => sum + calls.length, 0);
    if (count > CALLS_MAX) throw new LimitExceededError(`too many calls: ${count} > ${CALLS_MAX}`);
    return decoded;
  },
};

/** A position in a block; −1 is after all of them. */
const transactionIndex: ParamCodec<number | undefined> = {
  schema: { oneOf: [{ type: "integer" }, quantityNumber.schema] },
  decode(value, field) {
    if (value === -1) return undefined;
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
      ? value
      : quantityNumber.decode(value, field);
  },
};

/** The state that bundles run on: after a block, or before one of its transactions. */
export const stateContext = object("StateContext", {
  blockNumber: blockSelector,
  transactionIndex,
});
