import { DevControlError } from "../../../dev/dev-settings.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

/** Sets the least gas price of the pool, in wei, on a chain before London.
 *
 * @throws DevControlError where blocks have a base fee: nothing cheaper is included there anyway
 */
export const setMinGasPrice = controlMethods({
  names: bothNames("setMinGasPrice"),
  params: { gasPrice: lenientNumber },
  async handle(
    { gasPrice },
    { dev, chain }: DevModules & { readonly chain: Pick<ChainView, "head"> },
  ) {
    const { header } = await chain.head();
    if (header.baseFeePerGas !== undefined) {
      throw new DevControlError("setMinGasPrice is not supported when EIP-1559 is active");
    }
    await dev.configure({ minimumGasPrice: gasPrice });
  },
});
