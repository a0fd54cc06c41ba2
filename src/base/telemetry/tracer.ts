import { NodeError } from "../errors.ts";

/** Plain values that describe a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Work under way, which is reported once it ends. */
export interface Span {
  /** As W3C's header `traceparent` names this span to those who work on it elsewhere. */
  readonly traceparent: string;
  describe(attributes: SpanAttributes): void;
  /** @param errorType given: the work failed */
  end(errorType?: string): void;
}

/** `errorType` of a span whose work failed with `error`. */
export function errorTypeOf(error: unknown): string {
  return error instanceof NodeError ? error.code : "internal";
}

/** Reports the work of a node. Absent while tracing is disabled. */
export interface Tracer {
  /**
   * @param parent W3C's `traceparent` of the work that this one is part of; a malformed one counts as none
   * @param isServer for a caller outside of this process
   */
  start(name: string, options: { readonly parent?: string | undefined; readonly isServer?: boolean }): Span;
}
