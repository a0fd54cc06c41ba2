import { defineMethod } from "../dispatch/method.ts";
import { boolean, string } from "../params/codec.ts";
import { assertNamed } from "./dapp-values.ts";
import type { DappStore } from "./port.ts";

/** `db_putString`: stores a text; false when a limit (`db.*` settings) is exceeded. */
export const putString = defineMethod({
  name: "db_putString",
  params: { database: string, key: string, value: string },
  result: boolean,
  private: true,
  handle({ database, key, value }, { node }: { node: Pick<DappStore, "putValue"> }) {
    assertNamed(database, key);
    return node.putValue(database, key, Buffer.from(value));
  },
});
