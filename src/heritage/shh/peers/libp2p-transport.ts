import { createRequire } from "node:module";
import type { Connection, Libp2p, Stream } from "@libp2p/interface";
import type { Failures } from "../../../base/telemetry/failures.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { PeerAddressError, TransportMissingError } from "../errors.ts";
import type { PeerSet } from "./peer-set.ts";

/** The protocol of the stream; both peers open one, and the first counts. */
const PROTOCOL = "/evmint/shh/2";
const DIAL_TIMEOUT_MS = 10_000;
/** Interval for dialing configured peers that are not connected. */
const REDIAL_MS = 5_000;
/** New envelopes of this interval share a packet. */
const FLUSH_MS = 50;
const CHECK_MS = 1_000;

type TransportOptions = {
  /** undefined if this node does not accept connections */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** Addresses to stay connected to. */
  readonly peers: readonly string[];
  /** Hosts of the chain's current peers: each is tried for Whisper at this node's port. */
  readonly networkHosts: () => readonly string[];
  readonly peersMax: number;
  /** 32 bytes: the node's secp256k1 key. */
  readonly privateKey: Uint8Array;
};

type TransportModules = {
  readonly peers: PeerSet;
  readonly failures: Pick<Failures, "guard">;
  readonly timers: Pick<Timers, "every">;
  readonly onDialFailed: (address: string, error: unknown) => void;
};

export type WhisperTransport = {
  /** Addresses of this node, with its id. */
  addresses(): readonly string[];
  /**
   * Connects to a peer and keeps the connection.
   * @throws PeerAddressError
   */
  addPeer(address: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * Carries the streams of `peers` over libp2p: TCP, noise, yamux.
 * @throws TransportMissingError
 */
export async function startTransport(
  options: TransportOptions,
  { peers, failures, timers, onDialFailed }: TransportModules,
): Promise<WhisperTransport> {
  const { createLibp2p, tcp, noise, yamux, privateKeyFromRaw, multiaddr } = await loadLibp2p();
  const { listen } = options;
  const node: Libp2p = await createLibp2p({
    privateKey: privateKeyFromRaw(options.privateKey),
    addresses: {
      listen: listen ? [addressOf(listen.host, listen.port)] : [],
    },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionManager: { maxConnections: 2 * options.peersMax },
    connectionGater: {
      denyInboundEncryptedConnection: (id) => peers.isBanned(id.toString()),
      denyDialMultiaddr: () => false,
    },
  });
  const wanted = new Set(options.peers);
  let isClosed = false;

  function accept(stream: Stream, connection: Connection): void {
    const id = connection.remotePeer.toString();
    const peer = peers.connect(id, {
      send: (bytes) => stream.send(bytes),
      close: () => void connection.close().catch(() => connection.abort(new Error("closed"))),
    });
    if (peer === undefined) {
      stream.abort(new Error("not accepted"));
      return;
    }
    stream.inactivityTimeout = Number.POSITIVE_INFINITY;
    stream.addEventListener("message", ({ data }) => {
      failures.guard("whisper peer", () => peer.received(data instanceof Uint8Array ? data : data.subarray()))();
    });
    stream.addEventListener("drain", () => failures.guard("whisper peer", () => peer.drained())());
    stream.addEventListener("close", () => peers.disconnected(id, peer));
  }

  async function dial(address: string): Promise<void> {
    const signal = AbortSignal.timeout(DIAL_TIMEOUT_MS);
    const connection = await node.dial(multiaddr(address), { signal });
    const id = connection.remotePeer.toString();
    if (!hasId(address)) idsByAddress.set(address, id);
    const isCarrying = connection.streams.some(({ protocol }) => protocol === PROTOCOL);
    if (!peers.has(id)) accept(await connection.newStream(PROTOCOL, { signal }), connection);
    // The peer connected to this node at the same time.
    else if (!isCarrying) await connection.close();
  }

  /** Ids of peers whose addresses do not name one, once they were reached. */
  const idsByAddress = new Map<string, string>();
  const idAt = (address: string) => (hasId(address) ? idOf(address) : (idsByAddress.get(address) ?? ""));
  const networkAddresses = () => {
    const port = listen && (listen.port || portOf(node.getMultiaddrs()[0]));
    return port ? options.networkHosts().map((host) => addressOf(host, port)) : [];
  };

  const dialing = new Set<string>();
  function redial(): void {
    for (const address of new Set([...wanted, ...networkAddresses()])) {
      const id = idAt(address);
      if (isClosed || dialing.has(address) || peers.has(id) || peers.isBanned(id)) continue;
      dialing.add(address);
      void dial(address)
        .catch((error) => onDialFailed(address, error))
        .finally(() => dialing.delete(address));
    }
  }

  for (const address of options.peers) assertAddress(address, multiaddr);
  await node.handle(PROTOCOL, accept);
  redial();
  const every = (ms: number, work: () => void) => timers.every(ms, "whisper peers", work, { keepsAlive: true });
  const repeated = [
    every(REDIAL_MS, redial),
    every(FLUSH_MS, () => peers.flush()),
    every(CHECK_MS, () => peers.check()),
  ];
  return {
    addresses: () => node.getMultiaddrs().map(String),
    async addPeer(address) {
      assertAddress(address, multiaddr);
      wanted.add(address);
      if (!peers.has(idOf(address))) {
        try {
          await dial(address);
        } catch (cause) {
          throw new PeerAddressError(`cannot connect to ${address}`, { address }, { cause });
        }
      }
    },
    async close() {
      isClosed = true;
      for (const timer of repeated) timer.cancel();
      await node.stop();
    },
  };
}

function addressOf(host: string, port: number): string {
  return `/${host.includes(":") ? "ip6" : "ip4"}/${host}/tcp/${port}`;
}

function portOf(address: { toString(): string } | undefined): number {
  return Number(/\/tcp\/(\d+)/.exec(String(address))?.[1] ?? 0);
}

function hasId(address: string): boolean {
  return address.includes("/p2p/");
}

/** The id of the peer's key, the last part of its address. */
function idOf(address: string): string {
  return address.slice(address.lastIndexOf("/") + 1);
}

/** @throws PeerAddressError */
function assertAddress(address: string, parse: (text: string) => unknown): void {
  const isComplete = /^\/(?:ip4|ip6|dns4|dns6|dns)\/[^/]+\/tcp\/\d+\/p2p\/[^/]+$/.test(address);
  try {
    if (isComplete) {
      parse(address);
      return;
    }
  } catch (cause) {
    throw new PeerAddressError(`invalid peer address ${address}`, { address }, { cause });
  }
  throw new PeerAddressError(`invalid peer address ${address}: /ip4/HOST/tcp/PORT/p2p/ID is needed`, { address });
}

/** Not installed with the node, since few nodes use Whisper with peers: about 100 packages and 25 MB. See `peerDependencies` of package.json. */
export const LIBP2P_PACKAGES = [
  "@chainsafe/libp2p-noise@17.0.0",
  "@libp2p/crypto@5.1.23",
  "@libp2p/tcp@11.0.28",
  "@libp2p/yamux@8.0.3",
  "@multiformats/multiaddr@13.0.3",
  "libp2p@3.2.0",
] as const;

/** Loads the parts of libp2p that the transport uses, in a fifth of a second and 30 MB. @throws TransportMissingError */
async function loadLibp2p() {
  defineWithResolvers();
  const load = importer();
  try {
    const [{ createLibp2p }, { tcp }, { noise }, { yamux }, { privateKeyFromRaw }, { multiaddr }] = await Promise.all([
      load("libp2p") as Promise<typeof import("libp2p")>,
      load("@libp2p/tcp") as Promise<typeof import("@libp2p/tcp")>,
      load("@chainsafe/libp2p-noise") as Promise<typeof import("@chainsafe/libp2p-noise")>,
      load("@libp2p/yamux") as Promise<typeof import("@libp2p/yamux")>,
      load("@libp2p/crypto/keys") as Promise<typeof import("@libp2p/crypto/keys")>,
      load("@multiformats/multiaddr") as Promise<typeof import("@multiformats/multiaddr")>,
    ]);
    return { createLibp2p, tcp, noise, yamux, privateKeyFromRaw, multiaddr };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const name = /package '([^']+)'/.exec(message)?.[1] ?? "libp2p";
    throw new TransportMissingError(
      `shh.address and shh.peers need libp2p, and the package ${name} is not installed: npm install ${LIBP2P_PACKAGES.join(" ")}`,
      { name },
      { cause },
    );
  }
}

/** Imports a package; in the bundle through `src/package/bundle/import-package.ts`. */
function importer(): (name: string) => Promise<unknown> {
  if (!import.meta.url.endsWith(".cjs")) return (name) => import(name);
  return createRequire(import.meta.url)("./import-package.cjs").importPackage;
}

/** ECMAScript 2024's `Promise.withResolvers`, which libp2p uses and Node 20 lacks. */
function defineWithResolvers(): void {
  const target = Promise as { withResolvers?: unknown };
  target.withResolvers ??= function withResolvers<T>(this: PromiseConstructor) {
    let resolve!: (value: T | PromiseLike<T>) => void;
    let reject!: (reason?: unknown) => void;
    const promise = new this<T>((onResolve, onReject) => {
      resolve = onResolve;
      reject = onReject;
    });
    return { promise, resolve, reject };
  };
}
