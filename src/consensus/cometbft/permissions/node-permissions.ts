import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Counter, Metrics } from "../../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import type { PeerLists } from "../../peer-lists.ts";
import type { NodesContract } from "./nodes-contract.ts";

/** Decides which nodes CometBFT connects to. */
export type PeerFilter = {
  /** Why not to connect to the node with this id, 40 lower-case hex digits; undefined: it is permitted. */
  refusal(id: string): string | undefined;
};

type NodePermissionsModules = {
  /** The operator's decisions. */
  readonly lists: PeerLists;
  /** Ids of `cometbft.seeds`. */
  readonly seeds: readonly string[];
  /** undefined: every node may connect */
  readonly contract: NodesContract | undefined;
  /** Whether this node's newest block is old, so that the contract's answer may be outdated. */
  readonly isLate: () => boolean;
  /** Ends all connections: CometBFT cannot end a single one. */
  readonly restart: () => void;
  readonly metrics: Pick<Metrics, "counter">;
  readonly log: Logger;
  /** [0, 1) */
  readonly random?: () => number;
  readonly timers: Pick<Timers, "after">;
};

/** The source of a refusal. */
type Source = "removed" | "contract" | "unanswered";

const REASONS: Readonly<Record<Source, string>> = {
  removed: "removed with admin_removePeer",
  contract: "refused by cometbft.allowed-nodes-contract",
  unanswered: "cometbft.allowed-nodes-contract does not answer",
};

/**
 * All nodes see a change of the contract in the same block. Each waits a random part of this time before it restarts CometBFT, which takes two
 * seconds, so that a network does not lose all validators at once.
 */
const CUT_WITHIN_MS = 20_000;

/** A stranger can dial endlessly; each log line covers all refusals of this period. */
const LOG_EVERY_MS = 10_000;

/**
 * Decides which nodes may connect: no removed node, and with a permission contract only nodes that it allows.
 *
 * It fails closed: a contract that does not answer allows no further node. Existing connections stay then, since otherwise all nodes would lose
 * all of them.
 *
 * A node that is behind sees an old state, and a new node sees none. Such a node connects to the nodes that its operator names (persistent and
 * trusted peers, seeds) whatever the contract says there; otherwise it would never learn the contract's current answer. With a current head, the
 * contract decides about these nodes too.
 */
export class NodePermissions implements PeerFilter {
  readonly #modules: NodePermissionsModules;
  readonly #random: () => number;
  readonly #refused: Counter;
  /** Nodes that were connected and that the contract refused in a current state: they stay refused when this node is late. */
  #disconnected: ReadonlySet<string> = new Set();
  #cut: Timer | undefined;
  #line: Timer | undefined;
  #unlogged = 0;

  constructor(modules: NodePermissionsModules) {
    this.#modules = modules;
    this.#random = modules.random ?? Math.random;
    this.#refused = modules.metrics.counter({
      name: "refused_peers_total",
      help: "Connections refused to nodes that may not connect, by reason (removed, contract, unanswered).",
      labels: ["source"],
      values: ["removed", "contract", "unanswered"],
    });
  }

  refusal(id: string): string | undefined {
    const source = this.#sourceOfRefusal(id);
    if (source === undefined) return undefined;
    this.#refused.add(1, { source });
    this.#logRefusal(id, source);
    return REASONS[source];
  }

  /** Whether `refusal` returns undefined; that method also counts and logs refused requests. */
  mayConnect(id: string): boolean {
    return this.#sourceOfRefusal(id) === undefined;
  }

  /** Ends connections to nodes that may no longer connect. @param connected ids */
  enforce(connected: readonly string[]): void {
    if (this.#cut !== undefined) return;
    const strangers = connected.filter((id) => this.#isStranger(id));
    if (strangers.length === 0) return;
    const waitMs = Math.round(this.#random() * CUT_WITHIN_MS);
    this.#modules.log.warn("connected nodes are no longer allowed; restarting CometBFT", {
      nodes: strangers,
      named: strangers.filter((id) => this.#isNamed(id)),
      waitMs,
    });
    this.#cut = this.#modules.timers.after(waitMs, "end of forbidden connections", () => {
      this.#cut = undefined;
      // They may be allowed again.
      const last = strangers.filter((id) => this.#isStranger(id));
      if (last.length === 0) return;
      this.#disconnected = new Set([...[...this.#disconnected].filter((id) => this.#asksNo(id)), ...last]);
      this.#modules.restart();
    });
  }

  close(): void {
    this.#cut?.cancel();
    this.#line?.cancel();
    this.#cut = undefined;
    this.#line = undefined;
  }

  #sourceOfRefusal(id: string): Source | undefined {
    const { lists, contract } = this.#modules;
    if (lists.isRejected(id)) return "removed";
    if (contract === undefined) return undefined;
    const answer = contract.ask(id);
    if (answer === "allowed" || this.#isNeeded(id)) return undefined;
    return answer === "refused" ? "contract" : "unanswered";
  }

  /** Whether an existing connection is forbidden. */
  #isStranger(id: string): boolean {
    const source = this.#sourceOfRefusal(id);
    return source !== undefined && source !== "unanswered";
  }

  /** Whether this peer is the only source of current blocks. */
  #isNeeded(id: string): boolean {
    return this.#modules.isLate() && this.#isNamed(id) && !this.#disconnected.has(id);
  }

  #isNamed(id: string): boolean {
    const { lists, seeds } = this.#modules;
    return lists.isPersistent(id) || lists.isTrusted(id) || seeds.includes(id);
  }

  #asksNo(id: string): boolean {
    return this.#modules.contract?.ask(id) === "refused";
  }

  #logRefusal(id: string, source: Source): void {
    if (this.#line !== undefined) {
      this.#unlogged++;
      return;
    }
    this.#modules.log.info("node refused", { id, reason: REASONS[source] });
    this.#line = this.#modules.timers.after(LOG_EVERY_MS, "log of refused nodes", () => {
      this.#line = undefined;
      if (this.#unlogged > 0) this.#modules.log.info("refused more connections", { count: this.#unlogged });
      this.#unlogged = 0;
    });
  }
}
