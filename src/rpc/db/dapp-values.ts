import { NodeError } from "../../errors.ts";
import { InvalidParamsError } from "../dispatch/errors.ts";
import { andThen, type MaybePromise } from "../ports/maybe-promise.ts";
import type { DappStore } from "./port.ts";

/** No value has this key. The message is that of the store geth used. */
export class NoValueError extends NodeError {
  readonly code = "DAPP_DB_NO_VALUE";
  constructor() {
    super("leveldb: not found");
  }
}

/** @throws NoValueError, InvalidParamsError */
export function readValue(
  node: Pick<DappStore, "getValue">,
  database: string,
  key: string,
): MaybePromise<Uint8Array> {
  assertNamed(database, key);
  return andThen(node.getValue(database, key), (value) => {
    if (value === undefined) throw new NoValueError();
    return value;
  });
}

/** @throws InvalidParamsError */
export function assertNamed(database: string, key: string): void {
  if (database === "") throw new InvalidParamsError("Database cannot be blank", "database");
  if (key === "") throw new InvalidParamsError("Key cannot be blank", "key");
}
