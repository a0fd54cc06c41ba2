import { TransactionFieldsError } from "../dispatch/errors.ts";

/** @throws TransactionFieldsError when there is none: `personal` has no default account */
export function senderOf<T>(from: T | undefined): T {
  if (from === undefined) throw new TransactionFieldsError("sender not specified");
  return from;
}
