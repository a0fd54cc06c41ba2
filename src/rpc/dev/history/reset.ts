import { DevControlError } from "../../../dev/errors.ts";
import { json, optional } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/**
 * Back to the genesis block, with nothing set and an empty pool.
 *
 * @throws DevControlError when a remote chain to fork is named: this node forks none
 */
export const reset = controlMethods({
  names: bothNames("reset"),
  params: { options: optional(json) },
  async handle({ options }, { dev }: DevModules) {
    const { forking } = (options ?? {}) as { readonly forking?: { readonly jsonRpcUrl?: unknown } };
    if (forking?.jsonRpcUrl !== undefined) {
      throw new DevControlError("forking of a remote chain is not supported");
    }
    await dev.reset();
  },
});
