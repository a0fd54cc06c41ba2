import { NodeError } from "../../errors.ts";
import type { DappDb } from "../../storage/dapp-db.ts";
import { InvalidParamsError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { boolean, data, string } from "../params/codec.ts";

type Modules = { readonly dappDb: DappDb };

/** Nothing was ever put there; the text is that of the store geth had. */
export class NoValueError extends NodeError {
  readonly code = "DAPP_DB_NO_VALUE";
  constructor() {
    super("leveldb: not found");
  }
}

/** `db_putString`: keeps a text; false when a limit (`db.*` settings) stands against it. */
export const putString = defineMethod({
  name: "db_putString",
  params: { database: string, key: string, value: string },
  result: boolean,
  private: true,
  handle({ database, key, value }, { dappDb }: Modules) {
    assertNamed(database, key);
    return dappDb.put(database, key, Buffer.from(value));
  },
});

/** `db_putHex`: keeps bytes, in the same place a text would be; false when a limit stands against it. */
export const putHex = defineMethod({
  name: "db_putHex",
  params: { database: string, key: string, value: data },
  result: boolean,
  private: true,
  handle({ database, key, value }, { dappDb }: Modules) {
    assertNamed(database, key);
    return dappDb.put(database, key, value);
  },
});

/** `db_getString`: the value as text; bytes that are not UTF-8 come as U+FFFD. @throws NoValueError */
export const getString = defineMethod({
  name: "db_getString",
  params: { database: string, key: string },
  result: string,
  handle: ({ database, key }, modules: Modules) =>
    Buffer.from(read(modules, database, key)).toString(),
});

/** `db_getHex`: the value as bytes. @throws NoValueError */
export const getHex = defineMethod({
  name: "db_getHex",
  params: { database: string, key: string },
  result: data,
  handle: ({ database, key }, modules: Modules) => read(modules, database, key),
});

function read({ dappDb }: Modules, database: string, key: string): Uint8Array {
  assertNamed(database, key);
  const value = dappDb.get(database, key);
  if (value === undefined) throw new NoValueError();
  return value;
}

function assertNamed(database: string, key: string): void {
  if (database === "") throw new InvalidParamsError("Database cannot be blank", "database");
  if (key === "") throw new InvalidParamsError("Key cannot be blank", "key");
}
