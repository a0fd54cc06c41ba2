import { NodeError } from "../../errors.ts";

/** The remote chain did not answer, or not with what was asked for. */
export class ForkRemoteError extends NodeError {
  readonly code = "FORK_REMOTE_FAILED";
}

/** Something of the remote chain is not in the cache, and no address of a node is given. */
export class ForkOfflineError extends NodeError {
  readonly code = "FORK_REMOTE_OFFLINE";
  constructor() {
    super("not in the cache of the fork: start with --fork-url");
  }
}

/** The remote node has no state of the block that was forked any more. */
export class ForkArchiveError extends NodeError {
  readonly code = "FORK_REMOTE_PRUNED";
  constructor(answer: string) {
    super(
      `the remote node has no state of the forked block: an archive node or a newer --fork-block is needed (${answer})`,
      { answer },
    );
  }
}

/** The remote chain rejected a call about a block before the fork. */
export class ForkAnswerError extends NodeError {
  readonly code = "FORK_ANSWER";
}

/** A call about a block before the fork reverted on the remote chain. */
export class ForkRevertError extends NodeError {
  readonly code = "EXECUTION_REVERTED";
}

/** Needs something of the remote chain that JSON-RPC does not give. */
export class ForkUnsupportedError extends NodeError {
  readonly code = "FORK_UNSUPPORTED";
}
