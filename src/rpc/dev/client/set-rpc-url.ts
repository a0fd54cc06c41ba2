import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { remoteUrl } from "../remote-url.ts";

/**
 * The node to ask for the chain that this one forks, in place of those asked until now.
 *
 * @throws DevControlError where nothing is forked, or the node has another chain: anvil answers null; ForkRemoteError
 */
export const setRpcUrl = controlMethods({
  // viem calls it by the name of its mode.
  names: bothNames("setRpcUrl"),
  params: { url: remoteUrl },
  handle: ({ url }, { dev }: DevModules) => dev.setForkUrl(url),
});
