import { defineMethod } from "../dispatch/method.ts";
import { boolean, data, string } from "../params/codec.ts";
import { assertNamed } from "./dapp-values.ts";
import type { DappStore } from "./port.ts";

/** `db_putHex`: stores bytes, under the same keys as `db_putString`; false when a limit is exceeded. */
export const putHex = defineMethod({
  name: "db_putHex",
  params: { database: string, key: string, value: data },
  result: boolean,
  private: true,
  handle({ database, key, value }, { node }: { node: Pick<DappStore, "putValue"> }) {
    assertNamed(database, key);
    return node.putValue(database, key, value);
  },
});
