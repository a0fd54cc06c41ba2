import { errorClassOf, NodeError } from "../../base/errors.ts";

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

/** The block of the remote chain has a header that no chain can continue, or one that has not the hash it is answered with. */
export class ForkHeaderError extends NodeError {
  readonly code = "FORK_REMOTE_HEADER";
}

/** What the remote node answered of its state contradicts the state root of the forked block. */
export class ForkProofError extends NodeError {
  readonly code = "FORK_REMOTE_PROOF";
}

/** The remote node serves no proofs of its state, which `--fork-verify` demands. */
export class ForkUnverifiableError extends NodeError {
  readonly code = "FORK_REMOTE_UNVERIFIABLE";
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

/** `fork.json` of the home is not what this program writes. */
export class ForkFileError extends NodeError {
  readonly code = "FORK_FILE_INVALID";
}

/** `error` as the failure of a read of state: no transaction is to blame for it, whatever the remote node said. Bugs, and failures that the operator has to end, stay what they are. */
export function stateReadFailure(error: unknown): unknown {
  if (!(error instanceof NodeError) || errorClassOf(error) === "operator") return error;
  const text = `the remote chain rejected a read of its state: ${error.message}`;
  return new ForkRemoteError(text, {}, { cause: error });
}
