/**
 * Types that programs see of a provider. The declarations of the package consist of this file and others like it. They import nothing of the
 * node, so that they compile without the types of Node.js.
 */

/** EIP-1193. */
export type ProviderRequest = {
  readonly method: string;
  readonly params?: readonly unknown[] | object | undefined;
};

/** EIP-1193's `message` event: a notification of a subscription. */
export type ProviderMessage = { readonly type: string; readonly data: unknown };

/** Any function: the event decides the listener's parameters. */
// biome-ignore lint/suspicious/noExplicitAny: listeners declare what they take, as with an EventEmitter.
type Listener = (...values: any[]) => void;

/** EIP-1193 over a node in this process: every method, without a port. Subscriptions arrive as `message` events. */
export interface InProcessProvider {
  /** @throws ProviderRpcError */
  request(request: ProviderRequest): Promise<unknown>;
  on(event: "message", listener: (message: ProviderMessage) => void): this;
  on(event: string, listener: Listener): this;
  once(event: "message", listener: (message: ProviderMessage) => void): this;
  once(event: string, listener: Listener): this;
  off(event: string, listener: Listener): this;
  addListener(event: string, listener: Listener): this;
  removeListener(event: string, listener: Listener): this;
  removeAllListeners(event?: string): this;
  listenerCount(event: string): number;
}

/** EIP-1193: why a request failed. `cause` is the original error with its stack, also for bugs, which `message` hides. */
export class ProviderRpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(
    error: { readonly code: number; readonly message: string; readonly data?: unknown },
    options?: { readonly cause?: unknown },
  ) {
    super(error.message, options);
    this.name = "ProviderRpcError";
    this.code = error.code;
    this.data = error.data;
  }
}
