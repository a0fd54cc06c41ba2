import type { BlobSidecar } from "../../base/types/transaction/transaction.ts";

/** Programs beside the chain that take seconds and run in threads of their own. Plain data only. */
export interface ToolsPort extends Compiler, BlobProver {}

/** solc's standard JSON output, as far as every selection has it. */
export type CompilerOutput = {
  /** By file and name */
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, object>>>>;
};

/** Compiles Solidity where the compiler is installed. */
export interface Compiler {
  /** undefined: not installed, or it does not load */
  compilerVersion(): Promise<string | undefined>;
  /**
   * Output of the compiler, from standard JSON to standard JSON. Imports of files that are not in the input are errors.
   * @throws CompilerError for errors of the source, CompilerBusyError
   */
  compile(input: object): Promise<CompilerOutput>;
}

/** Computes and verifies commitments and proofs of blobs (EIP-4844, EIP-7594). */
export interface BlobProver {
  /** @throws TransactionFieldsError for bytes that are not a blob */
  proveBlobs(input: { readonly blobs: readonly Uint8Array[]; readonly wrapperVersion: 0 | 1 }): Promise<{
    readonly commitments: readonly Uint8Array[];
    readonly proofs: readonly Uint8Array[];
  }>;
  /**
   * What is wrong with the parts of `sidecar` among themselves; undefined when nothing is.
   * @throws NodeError when too many wait already
   */
  verifyBlobs(sidecar: BlobSidecar): Promise<string | undefined>;
}
