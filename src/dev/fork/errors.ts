import { errorClassOf, NodeError } from "../../base/errors.ts";

/** The remote node did not answer, or returned unexpected data. */
export class ForkRemoteError extends NodeError {
  readonly code = "FORK_REMOTE_FAILED";
}

/** The data is not in the fork cache, and no remote node is configured. */
export class ForkOfflineError extends NodeError {
  readonly code = "FORK_REMOTE_OFFLINE";
  constructor() {
    super("not in the cache of the fork: start with --fork-url");
  }
}

/** The remote node no longer has the state of the forked block. */
export class ForkArchiveError extends NodeError {
  readonly code = "FORK_REMOTE_PRUNED";
  constructor(answer: string) {
    super(
      `the remote node has no state of the forked block: an archive node or a newer --fork-block is needed (${answer})`,
      { answer },
    );
  }
}

/** The remote block's header cannot be continued, or does not have the hash it was returned with. */
export class ForkHeaderError extends NodeError {
  readonly code = "FORK_REMOTE_HEADER";
}

/** State data from the remote node does not match the state root of the forked block. */
export class ForkProofError extends NodeError {
  readonly code = "FORK_REMOTE_PROOF";
}

/** The remote node does not serve state proofs, which `--fork-verify` requires. */
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

/** The method needs data of the remote chain that JSON-RPC does not provide. */
export class ForkUnsupportedError extends NodeError {
  readonly code = "FORK_UNSUPPORTED";
}

/** `fork.json` in the home is not in the format the node writes. */
export class ForkFileError extends NodeError {
  readonly code = "FORK_FILE_INVALID";
}

/** `error` as the failure of a read of state: no transaction is to blame for it, whatever the remote node said. Bugs, and failures that the operator has to end, stay what they are. */
export function stateReadFailure(error: unknown): unknown {
  if (!(error instanceof NodeError) || errorClassOf(error) === "operator") return error;
  const text = `the remote chain rejected a read of its state: ${error.message}`;
  return new ForkRemoteError(text, {}, { cause: error });
}
