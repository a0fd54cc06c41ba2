import { unpackDump } from "../../../dev/state-dump.ts";
import { boolean, data } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Adds the accounts of a dump of ours or anvil's to the newest state; true. */
export const loadState = controlMethods({
  names: bothNames("loadState"),
  params: { state: data },
  result: boolean,
  async handle({ state }, { dev }: DevModules) {
    await dev.edit(await unpackDump(state));
    return true;
  },
});
