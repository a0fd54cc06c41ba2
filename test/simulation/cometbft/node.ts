import { join } from "node:path";
import { Application, type ApplicationGoneError } from "./abci-client.ts";
import { BlockSync } from "./block-sync.ts";
import { Consensus } from "./consensus/consensus.ts";
import { Gossip } from "./consensus/gossip.ts";
import { BlockStore } from "./disk/block-store.ts";
import { PrivateValidator } from "./disk/private-validator.ts";
import { StateStore } from "./disk/state-store.ts";
import { Wal } from "./disk/wal.ts";
import { EvidencePool } from "./evidence-pool.ts";
import { BlockExecutor } from "./executor.ts";
import { HandshakeError, handshake } from "./handshake.ts";
import { Hostility } from "./hostility.ts";
import { Log } from "./log.ts";
import { Mempool } from "./mempool.ts";
import type { NodeInfo, PeerMessage } from "./messages.ts";
import { Peers } from "./peers.ts";
import { RpcServer } from "./rpc-server.ts";
import {
  absoluteAddress,
  type Genesis,
  type Keys,
  readGenesis,
  readKeys,
  readSettings,
  type Settings,
} from "./settings.ts";
import { LightClient, LightClientError } from "./state-sync/light-client.ts";
import { SnapshotServer, StateSync } from "./state-sync/state-sync.ts";
import { type ChainState, genesisState } from "./types/chain-state.ts";
import type { System, World } from "./world.ts";

/** What v0.40.0 says of itself. */
export const VERSION = "0.39.0";

/** CometBFT ends so long after its application, with status 0. */
const APPLICATION_GONE_MS = 1_200;
const STOP_MS = 100;
const NANOS_PER_MS = 1_000_000;

const EXIT_ERROR = 1;
const EXIT_PANIC = 2;

/** The node does not start: exit status 1. */
class StartError extends Error {}

/** `cometbft start`: the parts of a node in the order in which it starts them (node/node.go). */
export class EngineNode {
  readonly #world: World;
  readonly #system: System;
  readonly #log: Log;
  readonly #home: string;
  readonly #settings: Settings;
  readonly #genesis: Genesis;
  readonly #keys: Keys;
  #isEnding = false;
  /** This node is the only validator. */
  #isAlone = false;

  constructor(home: string, world: World, system: System) {
    this.#world = world;
    this.#system = system;
    this.#log = new Log(world, () => system.now());
    this.#home = home;
    this.#settings = readSettings(home);
    this.#genesis = readGenesis(home);
    this.#keys = readKeys(home, this.#settings.keyFile);
    world.onSignal(() => {
      this.#isEnding = true;
      system.after(STOP_MS, () => world.exit(0));
    });
  }

  async run(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      if (this.#isEnding) return;
      if (error instanceof HandshakeError) {
        this.#exit(
          `ERROR: failed to create node: error during handshake: error on replay: ${error.message}`,
          EXIT_ERROR,
        );
      } else if (error instanceof StartError) {
        this.#exit(`ERROR: failed to start node: ${error.message}`, EXIT_ERROR);
      } else this.#panic(error);
    }
  }

  async #start(): Promise<void> {
    const [settings, world, system, log, genesis, keys] = [
      this.#settings,
      this.#world,
      this.#system,
      this.#log,
      this.#genesis,
      this.#keys,
    ];
    const data = join(this.#home, "data");
    const blocks = new BlockStore(data);
    const states = new StateStore(data);
    const validator = new PrivateValidator(join(this.#home, settings.signStateFile), keys, world.keys);
    const application = await Application.connect(settings.proxyApp, {
      system,
      observe: world.observeAbci && ((connection, event) => world.observeAbci?.(connection, event)),
      onGone: (error) => this.#onApplicationGone(error),
    });
    const initial = states.load() ?? genesisState(genesis);
    const evidence = new EvidencePool(data, initial, { blocks, states, keys: world.keys, log });
    const hostility = new Hostility({
      kinds: world.hostile,
      random: () => world.random(),
      keys: world.keys,
      own: keys,
      chainId: genesis.chainId,
    });
    const executor = new BlockExecutor({ application, blocks, states, evidence, hostility });
    // an old state, or a chain that no other node has: nothing to fetch
    const isFirst = initial.lastBlockHeight === 0;
    const isSyncing = settings.stateSync.enable && isFirst && !isOnlyValidator(initial, validator.address);
    const state = isSyncing
      ? initial
      : await handshake(initial, { application, executor, blocks, states, genesis, log });
    evidence.restart(state);
    await this.#waitForGenesis();
    this.#isAlone = isOnlyValidator(state, validator.address);
    const now = () => this.#now();
    const own: NodeInfo = {
      id: keys.nodeId,
      network: genesis.chainId,
      moniker: settings.moniker,
      version: VERSION,
      listen: `tcp://${settings.p2pAddress}`,
    };
    const { gossip: invented = () => [] } = world;
    const mempool = new Mempool(settings.mempool, {
      application,
      peers: () => peers,
      invented: () => [...(hostility.gossip() ?? []), ...invented()],
      system,
      log,
    });
    const gossip = new Gossip({
      ownId: keys.nodeId,
      consensus: () => consensus,
      peers: () => peers,
      blocks,
      evidence,
      hostility,
      system,
    });
    const consensus = new Consensus(state, {
      settings: settings.consensus,
      executor,
      validator,
      blocks,
      wal: new Wal(data),
      evidence,
      keys: world.keys,
      system,
      log,
      now,
      events: gossip,
      isForgetful: () => hostility.is("amnesia"),
    });
    const blockSync = new BlockSync({
      ownAddress: validator.address,
      peers: () => peers,
      blocks,
      executor,
      evidence,
      keys: world.keys,
      system,
      toleranceMs: settings.consensus.blockTimeToleranceMs,
      log,
      onDone: (synced, count) => {
        mempool.switchOn();
        const withReplay = count === 0 && !isSyncing;
        this.#startConsensus(consensus, gossip, { state: synced, withReplay }).catch((error: unknown) =>
          this.#panic(error),
        );
      },
      onPanic: (error) => this.#panic(error),
    });
    const light = new LightClient(settings.stateSync, { system, keys: world.keys, chainId: genesis.chainId });
    const stateSync = isSyncing
      ? new StateSync(settings.stateSync, {
          application,
          peers: () => peers,
          light,
          genesis: state,
          system,
          random: () => world.random(),
          log,
        })
      : undefined;
    const snapshots = new SnapshotServer({ application, peers: () => peers, hostility });
    const peers: Peers = new Peers(
      {
        own,
        listen: settings.p2pAddress,
        persistent: settings.persistentPeers,
        filterPeers: settings.filterPeers,
      },
      {
        world,
        system,
        application,
        hostility,
        log,
        events: {
          joined({ id }) {
            gossip.joined(id);
            blockSync.joined(id);
            stateSync?.joined(id);
          },
          left(id) {
            gossip.left(id);
            blockSync.left(id);
            stateSync?.left(id);
          },
          message(id: string, message: PeerMessage) {
            if (message.kind === "transactions") mempool.receive(message.txs);
            else if (!gossip.receive(id, message) && !blockSync.receive(id, message) && !snapshots.receive(id, message))
              stateSync?.receive(id, message);
          },
        },
      },
    );
    const isCatchingUp = () => !consensus.hasStarted;
    const rpc = new RpcServer({
      blocks,
      states,
      keys,
      info: own,
      running: { peers, consensus, isCatchingUp, now: () => system.now() },
    });
    world.serveHttp(absoluteAddress(settings.rpcAddress, this.#home), rpc.handle);
    log.info("main", "Started node", { nodeInfo: own.id });
    if (this.#isAlone) {
      mempool.switchOn();
      await this.#startConsensus(consensus, gossip, { state, withReplay: true });
    } else if (stateSync) {
      await this.#startLightClient(light);
      const synced = await stateSync.run().catch((error: unknown) => {
        // The process lives on, and does nothing.
        const err = error instanceof Error ? error.message : String(error);
        log.error("statesync", "State sync failed", { err });
      });
      if (synced === undefined) return;
      states.save(synced.state);
      blocks.saveSeenCommit(synced.commit);
      evidence.restart(synced.state);
      blockSync.start(synced.state);
    } else blockSync.start(state);
  }

  async #startLightClient(light: LightClient): Promise<void> {
    try {
      await light.start();
    } catch (error) {
      if (!(error instanceof LightClientError)) throw error;
      throw new StartError(
        `failed to start state sync: failed to set up light client state provider: ${error.message}`,
        { cause: error },
      );
    }
  }

  async #startConsensus(
    consensus: Consensus,
    gossip: Gossip,
    { state, withReplay }: { readonly state: ChainState; readonly withReplay: boolean },
  ): Promise<void> {
    this.#log.info("consensus", "SwitchToConsensus");
    await consensus.start(state, withReplay);
    gossip.start();
  }

  /** A genesis of the future: after the handshake, and with no RPC before it. */
  #waitForGenesis(): Promise<void> {
    const ms = Number(this.#genesis.time / BigInt(NANOS_PER_MS)) - this.#system.now();
    if (ms <= 0) return Promise.resolve();
    this.#log.info("main", "Genesis time is in the future. Sleeping until then...");
    return new Promise((resolve) => {
      this.#system.after(ms, resolve);
    });
  }

  /** Nanoseconds since 1970: those below a millisecond are random. */
  #now(): bigint {
    const nanos = BigInt(Math.floor(this.#world.random() * NANOS_PER_MS));
    return BigInt(Math.floor(this.#system.now())) * BigInt(NANOS_PER_MS) + nanos;
  }

  #onApplicationGone(error: ApplicationGoneError): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#log.error("proxy", "client connection terminated. Did the application crash? Please restart CometBFT", {
      err: error.message,
    });
    this.#system.after(APPLICATION_GONE_MS, () => this.#world.exit(0));
  }

  #panic(error: unknown): void {
    if (this.#isEnding) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#exit(`panic: ${reason}\n\ngoroutine 1 [running]:`, EXIT_PANIC);
  }

  #exit(words: string, code: number): void {
    this.#isEnding = true;
    for (const line of words.split("\n")) this.#world.stderr(line);
    this.#world.exit(code);
  }
}

function isOnlyValidator({ validators }: ChainState, address: string): boolean {
  return validators.size === 1 && validators.indexOf(address) === 0;
}
