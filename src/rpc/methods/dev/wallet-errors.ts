import { NodeError } from "../../../base/errors.ts";

/** EIP-3326: the chain is not one of this wallet, which has its own alone. */
export class UnknownWalletChainError extends NodeError {
  readonly code = "WALLET_UNKNOWN_CHAIN";
  constructor(chainId: bigint, own: bigint) {
    super(`unrecognized chain ID ${chainId}: this node has chain ${own} alone`, { chainId, own });
  }
}

/** EIP-5792: calls for a chain that the wallet does not have. */
export class UnsupportedCallsChainError extends NodeError {
  readonly code = "WALLET_UNSUPPORTED_CHAIN";
  constructor(chainId: bigint, own: bigint) {
    super(`unsupported chain ID ${chainId}: this node has chain ${own} alone`, { chainId, own });
  }
}

/** EIP-5792: a capability that is not marked as optional, and that the wallet does not have. */
export class UnsupportedCapabilityError extends NodeError {
  readonly code = "WALLET_UNSUPPORTED_CAPABILITY";
  constructor(capability: string) {
    super(`unsupported capability: ${capability}`, { capability });
  }
}

/** EIP-5792: more calls than the wallet takes at a time. */
export class CallBundleTooLargeError extends NodeError {
  readonly code = "WALLET_BUNDLE_TOO_LARGE";
  constructor(calls: number, max: number) {
    super(`${calls} calls: a bundle has at most ${max}`, { calls, max });
  }
}

/** EIP-5792: several calls that are to take effect all or none. */
export class AtomicityUnsupportedError extends NodeError {
  readonly code = "WALLET_ATOMICITY_UNSUPPORTED";
  constructor() {
    super("several calls are sent as one transaction each: atomicRequired is not supported");
  }
}
