/** `await using` of TypeScript's own libraries, for programs that are compiled without them; the same declaration twice is one. */
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
  interface AsyncDisposable {
    [Symbol.asyncDispose](): PromiseLike<void>;
  }
}

/** Ends a node at the end of an `await using` block. */
export type StopsWhenDisposed = AsyncDisposable;
