import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import type { Account } from "../../state/account.ts";
import { ByteWriter } from "../../storage/byte-io.ts";
import { writeAccount } from "../records/changes-record.ts";

/** An account as the block log and the index store it; empty for none. */
export function encodeAccount(account: Account | null): Uint8Array {
  if (account === null) return EMPTY_BYTES;
  const writer = new ByteWriter(80);
  writeAccount(writer, account);
  return writer.finish();
}
