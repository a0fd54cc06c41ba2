import { defineMethod } from "../dispatch/method.ts";
import { data, hash, json, optional } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { attributesOf, payloadAttributes, transactionList } from "./payload-attributes.ts";
import { payloadJson } from "./payload-json.ts";

/**
 * `testing_buildBlockV1`: a block on the head with exactly these transactions, or with the pool's best; nothing is stored.
 *
 * @throws PayloadAttributesError, InvalidTransactionError of the first transaction that does not fit
 * @see execution-apis `src/testing/testing_buildBlockV1.yaml`
 */
export const buildBlockV1 = defineMethod({
  name: "testing_buildBlockV1",
  params: {
    parentHash: hash,
    attributes: payloadAttributes,
    transactions: transactionList,
    extraData: optional(data),
  },
  result: json,
  heavy: true,
  handle(
    { parentHash, attributes, transactions, extraData },
    { execution }: { execution: Pick<ExecutionPort, "buildBlock"> },
  ) {
    const wanted = { parentHash, ...attributesOf(attributes, transactions, extraData) };
    return andThen(execution.buildBlock(wanted), payloadJson);
  },
});
