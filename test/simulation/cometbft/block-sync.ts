import type { BlockStore } from "./disk/block-store.ts";
import type { EvidencePool } from "./evidence-pool.ts";
import type { BlockExecutor } from "./executor.ts";
import type { Log } from "./log.ts";
import type { PeerMessage } from "./messages.ts";
import type { Peers } from "./peers.ts";
import type { SigningKeys } from "./signing-keys.ts";
import type { Block } from "./types/block.ts";
import { type ChainState, nextHeight } from "./types/chain-state.ts";
import { faultOfBlock, faultOfCommit } from "./validate-block.ts";
import type { System } from "./world.ts";

/** Each height is asked of another peer when none has answered in this time. */
const REQUEST_MS = 15_000;
/** Number of blocks requested ahead. */
const REQUESTS_MAX = 20;
const STATUS_MS = 10_000;
const SWITCH_MS = 1_000;

type Request = { readonly peer: string; readonly cancel: () => void; block?: Block };

type BlockSyncModules = {
  readonly ownAddress: string;
  readonly peers: () => Peers;
  readonly blocks: BlockStore;
  readonly executor: BlockExecutor;
  readonly evidence: EvidencePool;
  readonly keys: SigningKeys;
  readonly system: System;
  readonly toleranceMs: number;
  readonly log: Log;
  /** Called once this node takes part in consensus. */
  readonly onDone: (state: ChainState, blocksSynced: number) => void;
  /** Called with an error that ends the process. */
  readonly onPanic: (error: unknown) => void;
};

/** Fetches decided blocks from peers until this node has those of the others, and serves those it has: blocksync/reactor.go, pool.go. */
export class BlockSync {
  readonly #modules: BlockSyncModules;
  /** First and last block of each peer, by its own word. */
  readonly #ranges = new Map<string, { readonly base: number; readonly height: number }>();
  readonly #requests = new Map<number, Request>();
  #state: ChainState | undefined;
  #blocksSynced = 0;
  #isBusy = false;

  constructor(modules: BlockSyncModules) {
    this.#modules = modules;
  }

  get isRunning(): boolean {
    return this.#state !== undefined;
  }

  start(state: ChainState): void {
    this.#state = state;
    this.#modules.peers().broadcast({ kind: "statusRequest" });
    this.#every(STATUS_MS, () => this.#modules.peers().broadcast({ kind: "statusRequest" }));
    this.#every(SWITCH_MS, () => this.#trySwitch());
  }

  joined(id: string): void {
    const { blocks, peers } = this.#modules;
    peers().send(id, { kind: "status", base: blocks.base, height: blocks.height });
  }

  left(id: string): void {
    this.#ranges.delete(id);
    for (const [height, { peer, block }] of this.#requests) {
      if (peer === id && block === undefined) this.#drop(height);
    }
    this.#request();
  }

  /** @returns false for a message of something else */
  receive(from: string, message: PeerMessage): boolean {
    const { blocks, peers } = this.#modules;
    switch (message.kind) {
      case "statusRequest":
        peers().send(from, { kind: "status", base: blocks.base, height: blocks.height });
        return true;
      case "blockRequest": {
        const { height } = message;
        const block = blocks.block(height);
        peers().send(from, block ? { kind: "block", block } : { kind: "noBlock", height });
        return true;
      }
      case "status":
        this.#ranges.set(from, message);
        this.#request();
        return true;
      case "block":
        this.#received(from, message.block);
        return true;
      case "noBlock":
        if (this.#requests.get(message.height)?.peer === from) this.#drop(message.height);
        return true;
      default:
        return false;
    }
  }

  #every(ms: number, task: () => void): void {
    this.#modules.system.after(ms, () => {
      if (!this.isRunning) return;
      task();
      this.#every(ms, task);
    });
  }

  #trySwitch(): void {
    const state = this.#state!;
    if (this.#isBusy || !(this.#isCaughtUp(state) || this.#blocksTheChain(state))) return;
    this.#state = undefined;
    for (const height of [...this.#requests.keys()]) this.#drop(height);
    this.#modules.log.info("blocksync", "Time to switch to consensus mode!", { height: nextHeight(state) });
    this.#modules.onDone(state, this.#blocksSynced);
  }

  /** The last block of peers cannot be fetched: the commit for it is in the next one. */
  #isCaughtUp(state: ChainState): boolean {
    if (this.#modules.peers().count === 0) return false;
    const newest = Math.max(0, ...[...this.#ranges.values()].map(({ height }) => height));
    return newest === 0 || nextHeight(state) >= newest - 1;
  }

  /** Others may wait for this validator. In integers, as the real program counts: three of four or five validators of power 1 each, too. */
  #blocksTheChain({ validators }: ChainState): boolean {
    const own = validators.byAddress(this.#modules.ownAddress);
    return own !== undefined && own.power >= Math.floor(validators.totalPower / 3);
  }

  #request(): void {
    const state = this.#state;
    if (state === undefined) return;
    const first = nextHeight(state);
    for (let height = first; height < first + REQUESTS_MAX; height++) {
      if (this.#requests.has(height)) continue;
      const candidates = [...this.#ranges].filter(([, range]) => range.base <= height && height <= range.height);
      if (candidates.length === 0) break;
      const [peer] = candidates[height % candidates.length]!;
      const cancel = this.#modules.system.after(REQUEST_MS, () => {
        this.#ranges.delete(peer);
        this.#drop(height);
        this.#request();
      });
      this.#requests.set(height, { peer, cancel });
      this.#modules.peers().send(peer, { kind: "blockRequest", height });
    }
  }

  #drop(height: number): void {
    this.#requests.get(height)?.cancel();
    this.#requests.delete(height);
  }

  #received(from: string, block: Block): void {
    const request = this.#requests.get(block.height);
    if (request?.peer !== from || request.block) return;
    request.cancel();
    request.block = block;
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#process().then(
      () => {
        this.#isBusy = false;
      },
      (error: unknown) => this.#modules.onPanic(error),
    );
  }

  /** Executes each block whose next one is present, as its commit proves the first. */
  async #process(): Promise<void> {
    const { blocks, executor, log } = this.#modules;
    for (;;) {
      const state = this.#state;
      if (state === undefined) return;
      const height = nextHeight(state);
      const [first, second] = [this.#requests.get(height)?.block, this.#requests.get(height + 1)?.block];
      if (first === undefined || second === undefined) return;
      const fault = this.#faultOf(state, first, second);
      if (fault !== undefined) {
        log.error("blocksync", "Error in validation", { height, err: fault });
        for (const each of [height, height + 1]) this.#reject(each);
        this.#request();
        return;
      }
      blocks.save(first, second.lastCommit);
      try {
        this.#state = await executor.apply(state, first);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Failed to process committed block (${height}:${first.hash.toUpperCase()}): ${reason}`, {
          cause,
        });
      }
      this.#requests.delete(height);
      this.#blocksSynced++;
      this.#request();
    }
  }

  #faultOf(state: ChainState, first: Block, second: Block): string | undefined {
    const { keys, system, toleranceMs, evidence } = this.#modules;
    const { chainId, validators } = state;
    const { id: blockId, height } = first;
    return (
      faultOfCommit(second.lastCommit, { chainId, height, blockId, validators, keys }) ??
      faultOfBlock(state, first, { keys, now: system.now(), toleranceMs }) ??
      evidence.faultOfBlock(first.evidence)
    );
  }

  /** The peer that sent this block is not believed any more. */
  #reject(height: number): void {
    const peer = this.#requests.get(height)?.peer;
    this.#drop(height);
    if (peer === undefined) return;
    this.#ranges.delete(peer);
    this.#modules.peers().disconnect(peer);
  }
}
