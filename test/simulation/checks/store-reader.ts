import { join } from "node:path";
import type { Hash } from "../../../src/base/primitives/hash.ts";
import { StoreFollower } from "../../../src/chain/store/follow/store-follower.ts";
import { createStateTrie } from "../../../src/evm/state/state-trie.ts";
import { GHOST, GHOST_SLOT } from "../cometbft/state-sync/forged-snapshot.ts";
import type { SimulatedProcess } from "../kernel/process.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";
import { HOME } from "../scenario/homes.ts";
import { LEDGER } from "../workload/contracts.ts";
import { USERS } from "../workload/user-keys.ts";
import type { Ledger } from "./ledger.ts";
import { assertEqual, ModelDisagreement, word } from "./model.ts";

/** A reader sleeps for up to this long, so that it falls behind removed blocks, and sometimes behind all that it knew. */
const SLEEP_MS = [50, 500, 20_000, 120_000] as const;
export const READER_SLEEP_MS_MAX = Math.max(...SLEEP_MS);

/** Trie nodes that a reader has in memory. */
const TRIE_OPTIONS = { cacheBytes: 1 << 20 };

/** Reads one node's store as another process, as RPC processes do: now and then, and at any age. */
export class StoreReader {
  readonly #cluster: Cluster;
  readonly #node: ClusterNode;
  readonly #ledger: Ledger;
  readonly #random: Random;

  constructor(cluster: Cluster, node: ClusterNode, ledger: Ledger) {
    this.#cluster = cluster;
    this.#node = node;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream(`reader ${node.index}`);
    cluster.onStarted((started) => {
      if (started === node) this.#begin();
    });
  }

  /** As the node's process: publishes the head. As a separate one: follows. */
  #begin(): void {
    const { machine, process, serving } = this.#node;
    // An index in memory, as after a start on a full disk, cannot be followed.
    if (process === undefined || serving?.core.store.followable === undefined) return;
    const path = join(HOME, "data/head");
    process.after(0, () => {
      serving.core.store.publishToFile(path, () => {});
      const reader = machine.start("reader", (self) => {
        self.onUncaught = (error) => this.#failed(error);
        const follower = new StoreFollower({
          directory: join(HOME, "data"),
          head: path,
          createTrie: (nodes) => createStateTrie(nodes, TRIE_OPTIONS),
          // A rollback is over within one event of the node.
          pause() {
            throw new Error("a rollback went on while a reader waited");
          },
        });
        this.#later(self, follower);
      });
      process.onExit(() => reader.kill());
    });
  }

  #later(reader: SimulatedProcess, follower: StoreFollower): void {
    const ms = this.#random.between(10, this.#random.pick(SLEEP_MS));
    reader.after(ms, () => {
      this.#read(follower);
      this.#later(reader, follower);
    });
  }

  #failed(error: unknown): void {
    // Where a sync fails while blocks are removed, readers fail too until the node ends.
    if (this.#node.hasRot || !this.#node.machine.disk.isSound) return;
    this.#cluster.simulation.violate("reader", `a reader of node-${this.#node.index} fails: ${String(error)}`, error);
  }

  /** A node that began with block 0, and whose newest blocks were never removed, has at least the blocks that its settings promise. */
  #checkRetained(follower: StoreFollower): void {
    const { simulation, plan } = this.#cluster;
    const { settings, joinsAtMs } = plan.nodes[this.#node.index]!;
    if (joinsAtMs > 0 || this.#ledger.rewinds > 0) return;
    const head = follower.head();
    // What is pruned does not come back with a lower head.
    const highest = Math.max(head, this.#ledger.highestRemoved);
    const oldest = (key: string) => Math.max(0, highest + 1 - Number(settings[key] ?? Number.POSITIVE_INFINITY));
    const blocks = oldest("chain.retain-blocks");
    // An index that is made anew has states from the state file on, which is where proofs begin.
    const states = Math.max(blocks, oldest("state.history"), oldest("state.proofs"));
    if (follower.base() <= blocks && follower.stateBase() <= states) return;
    const has = `block ${follower.base()} and state ${follower.stateBase()}`;
    const text = `node-${this.#node.index} at block ${head} has ${has}, and should have ${blocks} and ${states}`;
    simulation.violate("retention", text);
  }

  #read(follower: StoreFollower): void {
    follower.catchUp();
    const head = follower.head();
    if (head < 1) return;
    this.#checkRetained(follower);
    const number = this.#random.integer(Math.max(1, follower.base()), head);
    const seen = this.#ledger.blocks.get(number);
    const block = follower.block(number);
    try {
      if (block === undefined) throw new ModelDisagreement(`no block ${number}, of ${follower.base()} to ${head}`);
      if (seen) assertEqual(block.block.hash, seen.hash, `block ${number}`);
      const state = this.#ledger.model.at(number);
      if (state === undefined || number < follower.stateBase()) return;
      const { address } = this.#random.pick(USERS);
      const reader = follower.stateAt(number);
      assertEqual(reader.account(address)?.balance ?? 0n, state.balances.get(address), `balance at block ${number}`);
      const count = word(BigInt(state.counts.get(address) ?? 0));
      const slot = reader.storage(LEDGER.address, word(BigInt(address)) as Hash);
      assertEqual(word(slot), count, `count at block ${number}`);
      const ghost = reader.storage(GHOST, GHOST_SLOT);
      assertEqual(ghost, 0n, `slot of an account that does not exist, at block ${number}`);
    } catch (error) {
      if (!(error instanceof ModelDisagreement)) throw error;
      this.#cluster.simulation.violate("reader", `a reader of node-${this.#node.index}: ${error.message}`);
    }
  }
}
