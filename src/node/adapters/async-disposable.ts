/** Declares `await using` as TypeScript's own libraries do, for programs compiled without them; TypeScript merges equal declarations. */
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
