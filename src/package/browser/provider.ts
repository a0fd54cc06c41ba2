import { type ProviderMessage, type ProviderRequest, ProviderRpcError } from "../../node/adapters/provider-types.ts";
import type { DevAccount } from "../../node/keystore/dev-accounts.ts";
import type { HomeFiles } from "./files/home-files.ts";

/** A running node as the page sees it: in the same thread, or in a worker. */
export type NodeHost = {
  readonly accounts: readonly DevAccount[];
  /** @throws ProviderRpcError */
  request(request: ProviderRequest): Promise<unknown>;
  produceBlock(): Promise<`0x${string}`>;
  exportHome(): Promise<HomeFiles>;
  /** Content of a file that `admin_exportChain` wrote; removes the file. */
  takeFile(name: string): Promise<Uint8Array>;
  /** Creates a file for `admin_importChain`. */
  putFile(name: string, content: Uint8Array): Promise<void>;
  removeFile(name: string): Promise<void>;
  stop(): Promise<void>;
};

export type HostOptions = {
  /** Name of a chain in OPFS, which only a dedicated worker can open. */
  readonly home?: string | undefined;
  readonly dev?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  readonly files?: HomeFiles | undefined;
};

type MessageListener = (message: ProviderMessage) => void;

/** EIP-1193 over a node in this page. Subscription notifications are `message` events, the only events. */
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

  /** For the node's owner. @param host undefined once it has stopped */
  connect(host: Pick<NodeHost, "request"> | undefined): void {
    this.#request = host && ((request) => host.request(request));
  }

  /** For the node's owner. */
  deliver(message: ProviderMessage): void {
    for (const listener of this.#listeners) listener(message);
  }
}
