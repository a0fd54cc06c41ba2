import { NodeError } from "../errors.ts";

/** Attributes of a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Running work, reported once it ends. */
export interface Span {
  /** W3C's `traceparent` header for this span, for those who continue its work elsewhere. */
  readonly traceparent: string;
  describe(attributes: SpanAttributes): void;
  /** @param errorType present if the work failed */
  end(errorType?: string): void;
}

/** `errorType` of a span whose work failed with `error`. */
export function errorTypeOf(error: unknown): string {
  return error instanceof NodeError ? error.code : "internal";
}

/** Reports the node's work. Absent if tracing is disabled. */
export interface Tracer {
  /**
   * @param parent W3C's `traceparent` of the enclosing work; a malformed one is ignored
   * @param isServer whether the caller is outside this process
   */
  start(name: string, options: { readonly parent?: string | undefined; readonly isServer?: boolean }): Span;
}
