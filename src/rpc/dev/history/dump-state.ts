import { packDump } from "../../../dev/state-dump.ts";
import { bytesToHex } from "../../../primitives/hex.ts";
import { data } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Every account with code and storage, as gzip of the JSON that anvil loads. */
export const dumpState = controlMethods({
  names: bothNames("dumpState"),
  params: {},
  result: data,
  handle: async (_params, { dev }: DevModules) => bytesToHex(await packDump(await dev.dumpState())),
});
