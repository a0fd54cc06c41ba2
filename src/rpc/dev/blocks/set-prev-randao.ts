import { hash } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Sets prevRandao of the next block. */
export const setPrevRandao = controlMethods({
  names: bothNames("setPrevRandao"),
  params: { prevRandao: hash },
  handle: ({ prevRandao }, { dev }: DevModules) => dev.setNextBlock({ prevRandao }),
});
