import { type ProviderRequest, ProviderRpcError } from "../adapters/provider.ts";
import type { NodeHost, ProviderMessage } from "./node-host.ts";

type MessageListener = (message: ProviderMessage) => void;

/** EIP-1193 over a node in this page. Notifications of subscriptions are `message` events; there are no others. */
export class BrowserProvider {
  #request: NodeHost["request"] | undefined;
  readonly #listeners = new Set<MessageListener>();

  /** @throws ProviderRpcError */
  async request(request: ProviderRequest): Promise<unknown> {
    if (this.#request) return this.#request(request);
    // EIP-1193: disconnected.
    throw new ProviderRpcError({ code: 4900, message: "the node is not running" });
  }

  on(event: "message", listener: MessageListener): this {
    if (event === "message") this.#listeners.add(listener);
    return this;
  }

  removeListener(_event: "message", listener: MessageListener): this {
    this.#listeners.delete(listener);
    return this;
  }

  /** For the owner of the node. @param host undefined when it has stopped */
  connect(host: Pick<NodeHost, "request"> | undefined): void {
    this.#request = host && ((request) => host.request(request));
  }

  /** For the owner of the node. */
  deliver(message: ProviderMessage): void {
    for (const listener of this.#listeners) listener(message);
  }
}
