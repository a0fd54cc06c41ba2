import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { readValue } from "./dapp-values.ts";
import type { DappStore } from "./port.ts";

/** `db_getString`: the value as text; bytes that are not UTF-8 come as U+FFFD. @throws NoValueError */
export const getString = defineMethod({
  name: "db_getString",
  params: { database: string, key: string },
  result: string,
  handle: ({ database, key }, { node }: { node: Pick<DappStore, "getValue"> }) =>
    andThen(readValue(node, database, key), (value) => Buffer.from(value).toString()),
});
