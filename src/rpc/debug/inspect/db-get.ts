import { type Hex, hexToBytes } from "../../../primitives/hex.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { data, string } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { DebugError } from "../errors.ts";

/**
 * `debug_dbGet`: a row of the index (`src/storage/schema.ts` says what is in it), its key as hex or as text.
 *
 * @throws DebugError where there is no such row
 */
export const dbGet = defineMethod({
  name: "debug_dbGet",
  params: { key: string },
  result: data,
  handle: ({ key }, { inspection }: { inspection: Pick<InspectionPort, "row"> }) =>
    andThen(inspection.row(keyBytes(key)), (value) => {
      if (value === undefined) throw new DebugError("not found");
      return value;
    }),
});

function keyBytes(key: string): Uint8Array {
  return /^0x(?:[0-9a-f]{2})*$/i.test(key)
    ? hexToBytes(key.toLowerCase() as Hex)
    : new TextEncoder().encode(key);
}
