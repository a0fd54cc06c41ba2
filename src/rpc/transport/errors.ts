import { NodeError } from "../../base/errors.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { durationText } from "../../evm/execution/call/call-errors.ts";

/** The body is not JSON. */
export class ParseError extends NodeError {
  readonly code = "RPC_PARSE_ERROR";
  constructor(message = "parse error") {
    super(message);
  }
}

/** JSON, but not a JSON-RPC 2.0 request object. */
export class InvalidRequestError extends NodeError {
  readonly code = "RPC_INVALID_REQUEST";
  constructor(message = "invalid request") {
    super(message);
  }
}

/** No such method, or its namespace is not enabled on this listener. */
export class MethodNotFoundError extends NodeError {
  readonly code = "RPC_METHOD_NOT_FOUND";
  constructor(method: string) {
    super(`the method ${method} does not exist/is not available`, { method });
  }
}

/** The method sends notifications, which this transport does not support. */
export class NotificationsUnsupportedError extends NodeError {
  readonly code = "RPC_NOTIFICATIONS_UNSUPPORTED";
  constructor() {
    super("notifications not supported");
  }
}

const MESSAGE_CHARS_MAX = 2048;

/** The parameters as a whole, or the one named in `details.param`, cannot be used. */
export class InvalidParamsError extends NodeError {
  readonly code = "RPC_INVALID_PARAMS";
  constructor(message: string, param?: string) {
    // It may quote the caller's text, which can be as long as the request.
    super(
      message.length > MESSAGE_CHARS_MAX ? `${message.slice(0, MESSAGE_CHARS_MAX)}…` : message,
      param === undefined ? {} : { param },
    );
  }
}

/** A codec rejected a value; the method that knows the parameter makes an InvalidParamsError of it. */
export class InvalidValueError extends NodeError {
  readonly code = "RPC_INVALID_VALUE";
}

/** The calls of one request together exceeded the time limit. */
export class RequestTimeoutError extends NodeError {
  readonly code = "RPC_TIMEOUT";
  constructor() {
    super("request timed out");
  }
}

/** The answers of the batch reached the size limit, so this call was not run. */
export class ResponseTooLargeError extends NodeError {
  readonly code = "RPC_RESPONSE_TOO_LARGE";
  constructor() {
    super("response too large");
  }
}

/** How a caller gets access, at the end of every rejection for lack of it. */
export const ACCESS_HINT =
  'the header "Authorization: Bearer TOKEN" with a token of "evmintd token", or the IPC socket';

/** A private method without the credential. */
export class UnauthorizedError extends NodeError {
  readonly code = "RPC_UNAUTHORIZED";
  constructor() {
    super(`unauthorized: private methods need ${ACCESS_HINT}`);
  }
}

/** State was requested at a block that does not exist. */
export class UnknownBlockError extends NodeError {
  readonly code = "RPC_UNKNOWN_BLOCK";
}

/** EIP-1898: the block exists, but not in the canonical chain. */
export class BlockNotCanonicalError extends NodeError {
  readonly code = "RPC_BLOCK_NOT_CANONICAL";
  constructor() {
    super("hash is not currently canonical");
  }
}

/** No valid block can be built on the head: a system contract is missing, or fails, for example. The log has the reason. */
export class PendingUnavailableError extends NodeError {
  readonly code = "RPC_PENDING_UNAVAILABLE";
  constructor(wanted: "block" | "state") {
    super(`pending ${wanted} is not available`, { wanted });
  }
}

/** The pending block has no state root in the trie until it is committed. */
export class PendingProofError extends NodeError {
  readonly code = "RPC_PENDING_PROOF";
  constructor() {
    super("proofs are not available for the pending block");
  }
}

/** Fields of the transaction are missing or exclude each other. The message is geth's. */
export class TransactionFieldsError extends NodeError {
  readonly code = "RPC_TRANSACTION_FIELDS";
}

/** EIP-712 data that cannot be hashed. */
export class TypedDataError extends NodeError {
  readonly code = "RPC_TYPED_DATA";
}

/** One request asks for more than the method returns at once. */
export class LimitExceededError extends NodeError {
  readonly code = "RPC_LIMIT_EXCEEDED";
}

/** More addresses in a log filter, or topics at one of its positions, than are allowed. */
export class LogFilterTermsError extends NodeError {
  readonly code = "RPC_LOG_FILTER_TERMS";
  constructor() {
    super("exceed max addresses or topics per search position");
  }
}

const LOG_LIMIT_REASONS = {
  results: "query returns more logs than one answer holds",
  bytes: "query returns more bytes than one answer holds",
  work: "query has to look at more blocks than one call may",
} as const;

/** The log search is too large for one call; `data` has a smaller block range that works. */
export class LogLimitError extends NodeError {
  readonly code = "RPC_LOG_LIMIT";
  constructor(part: {
    readonly limit: keyof typeof LOG_LIMIT_REASONS;
    readonly from: number;
    readonly to: number;
  }) {
    const data = { from: `0x${part.from.toString(16)}`, to: `0x${part.to.toString(16)}` };
    super(`${LOG_LIMIT_REASONS[part.limit]}. Try with this block range [${data.from}, ${data.to}].`, { data });
  }
}

/** The `trace_filter` range has more blocks than one call may re-execute. */
export class TraceRangeError extends NodeError {
  readonly code = "RPC_TRACE_RANGE";
  constructor(details: { readonly from: number; readonly to: number; readonly blocksMax: number }) {
    const { from, to, blocksMax } = details;
    // graph-node halves its range where a text says that it is too large.
    super(`block range too large: ${to - from + 1} blocks, at most ${blocksMax}`, details);
  }
}

/** The filter never existed, was uninstalled, or was not polled in time. */
export class FilterNotFoundError extends NodeError {
  readonly code = "RPC_FILTER_NOT_FOUND";
  constructor() {
    super("filter not found");
  }
}

/** The filter does not hold logs. */
export class FilterKindError extends NodeError {
  readonly code = "RPC_FILTER_KIND";
  constructor(id: string, kind: number) {
    super(`filter ${id} doesn't have a LogsSubscription type: got ${kind}`, { id, kind });
  }
}

/** The limit on filters, subscriptions or waiting calls is reached. */
export class TooManyError extends NodeError {
  readonly code = "RPC_TOO_MANY";
}

/** No subscription of this name in the namespace. */
export class UnknownSubscriptionError extends NodeError {
  readonly code = "RPC_UNKNOWN_SUBSCRIPTION";
  constructor(namespace: string, name: string) {
    super(`no "${name}" subscription in ${namespace} namespace`, { namespace, name });
  }
}

/** This connection has no subscription of this id. */
export class SubscriptionNotFoundError extends NodeError {
  readonly code = "RPC_SUBSCRIPTION_NOT_FOUND";
  constructor() {
    super("subscription not found");
  }
}

/** More transactions than one `transactionReceipts` subscription may name. */
export class SubscriptionArgumentError extends NodeError {
  readonly code = "RPC_SUBSCRIPTION_ARGUMENT";
  constructor() {
    super("exceed max number of transaction hashes allowed per transactionReceipts subscription");
  }
}

/** The signature cannot be valid. The message is geth's. */
export class InvalidSignatureError extends NodeError {
  readonly code = "RPC_INVALID_SIGNATURE";
}

/** No pending transaction of this node's accounts matches the description. */
export class TransactionNotFoundError extends NodeError {
  readonly code = "RPC_TRANSACTION_NOT_FOUND";
  constructor(hash: string) {
    super(`transaction ${hash} not found`, { hash });
  }
}

/** This chain has no mining: consensus decides blocks. */
export class NoMiningWorkError extends NodeError {
  readonly code = "RPC_NO_MINING_WORK";
  constructor() {
    super("no mining work available yet");
  }
}

/** EIP-7966: the transaction is in the pool but was not mined in time; `data` has its hash. */
export class ReceiptTimeoutError extends NodeError {
  readonly code = "RPC_RECEIPT_TIMEOUT";
  constructor(hash: Hash, timeoutMs: number) {
    super(`The transaction was added to the transaction pool but wasn't processed in ${durationText(timeoutMs)}`, {
      data: hash,
    });
  }
}

/** The thread or process that owns the chain closed the channel. */
export class ChainUnreachableError extends NodeError {
  readonly code = "RPC_CHAIN_UNREACHABLE";
  constructor() {
    super("the chain cannot be reached");
  }
}

/** The source does not compile, or no compiler for the language is installed. */
export class CompilerError extends NodeError {
  readonly code = "RPC_COMPILER";
}

/** Too many compilations are waiting. */
export class CompilerBusyError extends NodeError {
  readonly code = "RPC_COMPILER_BUSY";
  constructor() {
    super("too many compilations at once, try again later");
  }
}
