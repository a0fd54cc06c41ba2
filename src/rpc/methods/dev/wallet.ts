import { NodeError } from "../../../errors.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { KeysPort } from "../../ports/keys.ts";
import { address, array, json, optional, type ParamCodec, quantity } from "../../transport/codec.ts";
import { aliasMethod, defineMethod } from "../../transport/dispatch/method.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { accounts } from "../eth/client.ts";

/** A wallet's code for a chain that it does not have (EIP-3326). */
class UnknownChainError extends NodeError {
  readonly code = "DEV_UNKNOWN_CHAIN";
  constructor(details: { readonly chainId: bigint; readonly own: bigint }) {
    const { chainId, own } = details;
    super(`unrecognized chain id ${toQuantity(chainId)}: this node has the one chain ${toQuantity(own)}`, details);
  }
}

/** Of the objects that name a chain no more than that is read: names and addresses of other services are a wallet's business. */
const chainParameter: ParamCodec<bigint> = {
  schema: {
    title: "chain",
    type: "object",
    required: ["chainId"],
    properties: { chainId: { type: "string", pattern: "^0x[0-9a-fA-F]+$" } },
  },
  decode(value, field = "chain") {
    const { chainId } = (typeof value === "object" && value !== null ? value : {}) as { readonly chainId?: unknown };
    if (typeof chainId === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(chainId)) return BigInt(chainId);
    throw new InvalidValueError(`${field}: an object with a hexadecimal chainId is wanted`);
  },
};

type WalletModules = { readonly chain: Pick<ChainView, "config">; readonly keys: Pick<KeysPort, "accounts"> };

/**
 * `wallet_switchEthereumChain`: null where the chain is this node's.
 * @throws UnknownChainError
 * @see EIP-3326
 */
const switchChain = defineMethod({
  name: "wallet_switchEthereumChain",
  params: { chain: chainParameter },
  example: [{ chainId: "0x7a69" }],
  result: { ...json, schema: { type: "null" } },
  handle({ chain: chainId }, { chain }: WalletModules) {
    const own = chain.config.chainId;
    if (chainId !== own) throw new UnknownChainError({ chainId, own });
    return null;
  },
});

/**
 * `wallet_getCapabilities`: none on this node's chain, where accounts sign transactions and nothing else; no other chain is named.
 * @see EIP-5792
 */
const getCapabilities = defineMethod({
  name: "wallet_getCapabilities",
  params: { address: optional(address), chainIds: optional(array(quantity)) },
  result: json,
  handle: (_params, { chain }: WalletModules) => ({ [toQuantity(chain.config.chainId)]: {} }),
});

/** What pages ask a wallet first. On a dev chain the node is the wallet: its accounts are unlocked for everybody. */
export const WALLET_METHODS = [
  aliasMethod(accounts, "eth_requestAccounts"),
  switchChain,
  aliasMethod(switchChain, "wallet_addEthereumChain"),
  getCapabilities,
];
