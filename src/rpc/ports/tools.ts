/** Programs beside the chain that take seconds and run in threads of their own. Plain data only. */
export interface ToolsPort extends Compiler, BlobProver {}

/** One contract out of a compiler. */
export type CompiledContract = {
  /** Creation bytecode, 0x-prefixed */
  readonly code: string;
  readonly abi: readonly object[];
  readonly userDoc: object;
  readonly developerDoc: object;
};

/** Compiles Solidity where the compiler is installed. */
export interface Compiler {
  /** undefined: not installed, or it does not load */
  compilerVersion(): Promise<string | undefined>;
  /** Contracts by name. @throws CompilerError, CompilerBusyError */
  compile(source: string): Promise<Readonly<Record<string, CompiledContract>>>;
}

/** Computes commitments and proofs of blobs (EIP-4844, EIP-7594). */
export interface BlobProver {
  /** @throws TransactionFieldsError for bytes that are not a blob */
  proveBlobs(
    blobs: readonly Uint8Array[],
    wrapperVersion: 0 | 1,
  ): Promise<{
    readonly commitments: readonly Uint8Array[];
    readonly proofs: readonly Uint8Array[];
  }>;
}
