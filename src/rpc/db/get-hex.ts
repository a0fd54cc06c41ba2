import { defineMethod } from "../dispatch/method.ts";
import { data, string } from "../params/codec.ts";
import { readValue } from "./dapp-values.ts";
import type { DappStore } from "./port.ts";

/** `db_getHex`: the value as bytes. @throws NoValueError */
export const getHex = defineMethod({
  name: "db_getHex",
  params: { database: string, key: string },
  result: data,
  handle: ({ database, key }, { node }: { node: Pick<DappStore, "getValue"> }) =>
    readValue(node, database, key),
});
