import { defineMethod } from "../dispatch/method.ts";
import { data, hash, optional } from "../params/codec.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import { attributesOf, payloadAttributes, transactionList } from "./payload-attributes.ts";

/**
 * `testing_commitBlockV1`: builds such a block and makes it the head; its hash.
 *
 * @throws as testing_buildBlockV1
 */
export const commitBlockV1 = defineMethod({
  name: "testing_commitBlockV1",
  params: {
    attributes: payloadAttributes,
    transactions: transactionList,
    extraData: optional(data),
  },
  result: hash,
  private: true,
  handle: (
    { attributes, transactions, extraData },
    { execution }: { execution: Pick<ExecutionPort, "commitBlock"> },
  ) => execution.commitBlock(attributesOf(attributes, transactions, extraData)),
});
