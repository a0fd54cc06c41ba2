import { type Address, parseAddress } from "../../base/primitives/address.ts";
import type { EngineNetwork, LightBlock, NetworkPeer, NetworkStatus } from "../engine.ts";
import { type PeerLists, type PeerSettings, peerIdOf } from "../peer-lists.ts";
import type { RecordedBlocks } from "../recorded-blocks.ts";
import type { OwnVotes } from "./abci/block-watchers.ts";
import type { HeadAge } from "./abci/head-age.ts";
import type { Supervisor } from "./process/supervisor.ts";
import type { EnginePeer, EngineStatus } from "./rpc/answers.ts";
import type { EngineRpc } from "./rpc/client.ts";
import type { EngineView } from "./rpc/engine-view.ts";
import type { SigningRole } from "./signing-role.ts";

type CometBftNetworkOptions = {
  readonly nodeId: string;
  /** `host:port` that peers connect to. */
  readonly p2pAddress: string;
};

type CometBftNetworkModules = {
  readonly application: Pick<RecordedBlocks, "behind">;
  readonly signing: SigningRole;
  readonly lists: PeerLists;
  readonly rpc: EngineRpc;
  readonly view: EngineView;
  readonly supervisor: Supervisor;
  readonly headAge: HeadAge;
  readonly ownVotes: Pick<OwnVotes, "problem" | "isAwaited">;
  /** Milliseconds since the engine last received a block again that the chain has. */
  readonly quietMs: () => number;
};

/** CometBFT's network: its state and its peers. */
export class CometBftNetwork implements EngineNetwork {
  readonly nodeId: string;
  readonly #listenAddress: string;
  readonly #modules: CometBftNetworkModules;

  constructor({ nodeId, p2pAddress }: CometBftNetworkOptions, modules: CometBftNetworkModules) {
    this.nodeId = nodeId;
    this.#listenAddress = p2pAddress;
    this.#modules = modules;
  }

  status(): NetworkStatus {
    const { view, headAge } = this.#modules;
    const { status, peers, step, quorum } = view;
    return {
      validator: validatorOf(status),
      peerCount: peers.length,
      isListening: status !== undefined,
      listenAddress: this.#listenAddress,
      isValidator: (status?.votingPower ?? 0) > 0,
      // CometBFT does not report this if it fetches blocks by consensus, as does a validator for which others may wait.
      isCatchingUp: (status?.isCatchingUp ?? true) || (quorum === "present" && headAge.isLate),
      step,
      problem: this.#problem(),
    };
  }

  peers(): readonly NetworkPeer[] {
    const { view, lists } = this.#modules;
    return view.peers.map((peer) => peerOf(peer, lists));
  }

  lightBlock(height: number): Promise<LightBlock | undefined> {
    return this.#modules.rpc.lightBlock(height);
  }

  peerSettings(): PeerSettings {
    return this.#modules.lists.settings;
  }

  async addPeer(address: string): Promise<void> {
    const { lists, rpc } = this.#modules;
    lists.add(address);
    await rpc.dial(lists.settings.persistent, "persistent");
  }

  removePeer(id: string): void {
    const { view, lists, supervisor } = this.#modules;
    const isConnected = view.peers.some((peer) => peer.id === id);
    // CometBFT has no call that ends a connection.
    if (lists.remove(id) && isConnected) supervisor.restart();
  }

  async trustPeer(address: string): Promise<void> {
    const { lists, rpc } = this.#modules;
    lists.trust(peerIdOf(address));
    await rpc.dial([address], "unconditional");
  }

  distrustPeer(id: string): void {
    this.#modules.lists.distrust(id);
  }

  #problem(): string | undefined {
    const { application, signing, supervisor, view, headAge, ownVotes, quietMs } = this.#modules;
    const { state } = supervisor;
    const { status, peers, quorum } = view;
    if (state.kind === "failed") return state.reason;
    if (application.behind !== undefined) return behindReason(application.behind, quietMs());
    if (state.kind !== "running" || status === undefined) {
      const { awaitedSigner } = signing;
      const signer = awaitedSigner && `waiting for the remote signer at ${awaitedSigner}`;
      const reason = signer ?? (state.kind === "restarting" ? state.reason : undefined);
      return reason === undefined ? NOT_RUNNING : `${NOT_RUNNING}: ${reason}`;
    }
    // A single validator has no peers to catch up with.
    if (status.isCatchingUp && !signing.isWaiting) return peers.length > 0 ? "catching up with the network" : NO_PEER;
    if (signing.reason !== undefined) return `this validator does not sign: ${signing.reason}`;
    if (quorum !== "present") return "no quorum: the voting power of the participating validators is too low";
    if (!headAge.isLate) {
      // Operators rely on a validator that reports ready, and restart the next one.
      return ownVotes.problem ?? (status.votingPower > 0 && ownVotes.isAwaited ? VOTE_AWAITED : undefined);
    }
    const age = `the newest block is ${Math.round(headAge.ms / 1_000)} s old`;
    return `${age}: the node is catching up, the network is not making blocks, or this machine's clock is ahead`;
  }
}

const NOT_RUNNING = "CometBFT is not running yet";

/** With wrong addresses, a node seems to catch up forever. */
const NO_PEER =
  "no peer is connected: check cometbft.persistent-peers, the firewall and cometbft.allowed-nodes-contract";

const VOTE_AWAITED = "CometBFT restarted, and no block has a vote of this validator yet";

/** After this time without a block, the reason tells the operator what to do. */
const CATCH_UP_QUIET_MS = 60_000;

function behindReason({ height, head }: { readonly height: number; readonly head: number }, quietMs: number): string {
  const what = `CometBFT is fetching blocks ${height + 1} to ${head} again, which this chain has`;
  if (quietMs < CATCH_UP_QUIET_MS) return what;
  return `${what}; no peer has sent one for ${Math.round(quietMs / 1_000)} s. If no peer has them: set cometbft.state-sync-servers, or drop the blocks after ${height} with "evmintd rollback --to ${height}" or a larger cometbft.rollback-blocks`;
}

function validatorOf(status: EngineStatus | undefined): Address | undefined {
  if (status === undefined || status.votingPower === 0) return undefined;
  return parseAddress(`0x${status.validatorAddress}`);
}

function peerOf(peer: EnginePeer, lists: PeerLists): NetworkPeer {
  const { id, moniker, version, remoteIp, listenAddress, isOutbound } = peer;
  const port = /:(\d+)$/.exec(listenAddress)?.[1] ?? "0";
  return {
    id,
    name: moniker,
    version,
    remoteAddress: `${remoteIp}:${port}`,
    isInbound: !isOutbound,
    isTrusted: lists.isTrusted(id),
    isStatic: lists.isPersistent(id),
  };
}
