import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { TcpKind } from "../transport/server/listener.ts";

/** Address and access of a listener; undefined fields use the configuration. */
export type ListenRequest = {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly origins: readonly string[] | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly hosts: readonly string[] | undefined;
};

/** What the operator may ask of the node. */
export interface NodeAdmin {
  /** Absolute path of the home. */
  dataDirectory(): MaybePromise<string>;
  /** As `admin_nodeInfo` shows it. */
  adminInfo(): MaybePromise<unknown>;
  /** As `admin_peers` shows them. */
  peers(): MaybePromise<readonly unknown[]>;
  /**
   * Connects to a peer and stays connected, over restarts too.
   * @param address `id@host:port` as CometBFT writes it, or the multiaddr of a whisper peer
   * @throws AdminError where the engine has no network
   */
  addPeer(input: { readonly address: string }): Promise<void>;
  /** Ends the connection to a node and rejects new ones, over restarts too. @param id 40 hex digits @throws AdminError */
  removePeer(input: { readonly id: string }): MaybePromise<void>;
  /** Connects to `id@host:port` also where there are as many peers as allowed. @throws AdminError */
  trustPeer(input: { readonly address: string }): Promise<void>;
  /** @param id 40 hex digits @throws AdminError */
  distrustPeer(input: { readonly id: string }): MaybePromise<void>;
  /** Empties the pool of this node. */
  clearPool(): MaybePromise<void>;
  /** @throws AdminError when the listener is open already, may not be opened, or cannot listen */
  startListener(input: { readonly kind: TcpKind; readonly request: ListenRequest }): Promise<void>;
  /** Does nothing when it is closed. */
  stopListener(input: { readonly kind: TcpKind }): Promise<void>;
  /** @throws AdminError */
  exportChain(input: {
    readonly file: string;
    readonly first: number | undefined;
    readonly last: number | undefined;
  }): Promise<void>;
  /** @throws AdminError */
  importChain(input: { readonly file: string }): Promise<void>;
}
