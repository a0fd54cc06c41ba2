import { CompilerError } from "../../rpc/transport/errors.ts";

/** The Solidity compiler, which compiles one source at a time. */
export const COMPILER_LIMITS = {
  /** Resident memory of the compiler's process: 150 MB when idle, 360 MB for four hundred contracts in one source. */
  memoryMegabytesMax: 640,
  /** Sources that wait for the compiler. */
  waitingMax: 7,
  /** Output JSON, which the chain's thread parses; a hundred large contracts take half of this. */
  outputBytesMax: 16 * 2 ** 20,
  /** Characters of compiler messages in an error. */
  errorCharsMax: 64 * 2 ** 10,
} as const;

const MEMORY_BYTES_MAX = COMPILER_LIMITS.memoryMegabytesMax * 2 ** 20;

/** A source needs more memory than `COMPILER_LIMITS` allows. */
export class CompilerMemoryError extends CompilerError {
  constructor() {
    super(`the source needs more than the limit of ${COMPILER_LIMITS.memoryMegabytesMax} MB of memory`);
  }
}

/** Share of the limit: the rest is for memory outside WebAssembly, and for pages that it has not touched yet. */
const GROWTH_SHARE = 0.9;

/** @throws CompilerMemoryError if this process uses too much memory. Every platform reports this number. */
export function assertCompilerMemory(): void {
  if (process.memoryUsage.rss() > MEMORY_BYTES_MAX) throw new CompilerMemoryError();
}

/** @throws CompilerMemoryError if this process would use too much memory with `bytes` more */
export function assertCompilerMayGrow(bytes: number): void {
  if (process.memoryUsage.rss() + bytes > GROWTH_SHARE * MEMORY_BYTES_MAX) throw new CompilerMemoryError();
}

type Diagnostic = { readonly severity: string; readonly formattedMessage: string };
type Output = { readonly contracts?: object; readonly errors?: readonly Diagnostic[] };

/** The part of the compiler's `output` that callers need. @throws CompilerError for errors of the source, and for too much output */
export function compiledText(output: string): string {
  const { contracts = {}, errors = [] } = JSON.parse(output) as Output;
  const texts = errors.filter(({ severity }) => severity === "error").map((error) => error.formattedMessage.trim());
  if (texts.length > 0) throw new CompilerError(texts.join("\n").slice(0, COMPILER_LIMITS.errorCharsMax));
  const text = JSON.stringify({ contracts });
  if (text.length > COMPILER_LIMITS.outputBytesMax) {
    throw new CompilerError(`the output has more than ${COMPILER_LIMITS.outputBytesMax} bytes`);
  }
  return text;
}
