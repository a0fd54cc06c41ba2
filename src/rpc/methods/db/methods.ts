import { NodeError } from "../../../base/errors.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { DappStore } from "../../ports/dapp-store.ts";
import { boolean, data, string } from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";

/** The database has no value under this key. The message is that of geth's store. */
class NoValueError extends NodeError {
  readonly code = "DAPP_DB_NO_VALUE";
  constructor() {
    super("leveldb: not found");
  }
}

/** @throws NoValueError, InvalidParamsError */
function readValue(node: Pick<DappStore, "getValue">, database: string, key: string): MaybePromise<Uint8Array> {
  assertNamed(database, key);
  return andThen(node.getValue({ database, key }), (value) => {
    if (value === undefined) throw new NoValueError();
    return value;
  });
}

/** @throws InvalidParamsError */
function assertNamed(database: string, key: string): void {
  if (database === "") throw new InvalidParamsError("Database cannot be blank", "database");
  if (key === "") throw new InvalidParamsError("Key cannot be blank", "key");
}

/** `db_putString`: stores a text; false when a limit (`db.*` settings) is exceeded. */
export const putString = defineMethod({
  name: "db_putString",
  params: { database: string, key: string, value: string },
  result: boolean,
  private: true,
  handle({ database, key, value }, { node }) {
    assertNamed(database, key);
    return node.putValue({ database, key, value: Buffer.from(value) });
  },
});

/** `db_getString`: the value as text; bytes that are not UTF-8 become U+FFFD. @throws NoValueError */
export const getString = defineMethod({
  name: "db_getString",
  params: { database: string, key: string },
  example: ["notes", "greeting"],
  result: string,
  handle: ({ database, key }, { node }) =>
    andThen(readValue(node, database, key), (value) => Buffer.from(value).toString()),
});

/** `db_putHex`: stores bytes, under the same keys as `db_putString`; false when a limit is exceeded. */
export const putHex = defineMethod({
  name: "db_putHex",
  params: { database: string, key: string, value: data },
  result: boolean,
  private: true,
  handle({ database, key, value }, { node }) {
    assertNamed(database, key);
    return node.putValue({ database, key, value });
  },
});

/** `db_getHex`: the value as bytes. @throws NoValueError */
export const getHex = defineMethod({
  name: "db_getHex",
  params: { database: string, key: string },
  example: ["notes", "greeting"],
  result: data,
  handle: ({ database, key }, { node }) => readValue(node, database, key),
});
