import { EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { writeAccount } from "../../../src/chain/records/changes-record.ts";
import type { Account } from "../../../src/evm/state/account.ts";
import { ByteWriter } from "../../../src/store/storage/byte-io.ts";

/** An account as the block log and the index store it; empty for none. */
export function encodeAccount(account: Account | null): Uint8Array {
  if (account === null) return EMPTY_BYTES;
  const writer = new ByteWriter(80);
  writeAccount(writer, account);
  return writer.finish();
}
