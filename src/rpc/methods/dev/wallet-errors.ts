import { NodeError } from "../../../base/errors.ts";

/** EIP-3326: the wallet only knows the node's own chain. */
export class UnknownWalletChainError extends NodeError {
  readonly code = "WALLET_UNKNOWN_CHAIN";
  constructor(chainId: bigint, own: bigint) {
    super(`unrecognized chain ID ${chainId}: this node only has chain ${own}`, { chainId, own });
  }
}

/** EIP-5792: the wallet does not have the chain of these calls. */
export class UnsupportedCallsChainError extends NodeError {
  readonly code = "WALLET_UNSUPPORTED_CHAIN";
  constructor(chainId: bigint, own: bigint) {
    super(`unsupported chain ID ${chainId}: this node only has chain ${own}`, { chainId, own });
  }
}

/** EIP-5792: the wallet does not support a required capability. */
export class UnsupportedCapabilityError extends NodeError {
  readonly code = "WALLET_UNSUPPORTED_CAPABILITY";
  constructor(capability: string) {
    super(`unsupported capability: ${capability}`, { capability });
  }
}

/** EIP-5792: more calls than the wallet takes in one bundle. */
export class CallBundleTooLargeError extends NodeError {
  readonly code = "WALLET_BUNDLE_TOO_LARGE";
  constructor(calls: number, max: number) {
    super(`${calls} calls: a bundle has at most ${max}`, { calls, max });
  }
}

/** EIP-5792: the node cannot execute several calls atomically. */
export class AtomicityUnsupportedError extends NodeError {
  readonly code = "WALLET_ATOMICITY_UNSUPPORTED";
  constructor() {
    super("several calls are sent as one transaction each: atomicRequired is not supported");
  }
}
