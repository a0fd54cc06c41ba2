import { type Counter, declareGauges, type Metrics } from "../../base/telemetry/metrics.ts";
import type { BlockInput, LastCommit } from "../application.ts";
import type { BlockWatcher, OwnVotes } from "./abci/block-watchers.ts";
import type { HeadAge } from "./abci/head-age.ts";
import type { Supervisor } from "./process/supervisor.ts";
import type { EngineView } from "./rpc/engine-view.ts";

type EngineMetricsModules = {
  readonly metrics: Pick<Metrics, "counter" | "gaugeOf">;
  readonly view: Pick<EngineView, "status" | "peers" | "step" | "quorum">;
  readonly supervisor: Pick<Supervisor, "restartsTotal" | "state">;
  readonly headAge: Pick<HeadAge, "ms">;
  readonly ownVotes: Pick<OwnVotes, "unsigned">;
};

/** Consensus metrics for operators of validators and followers, from CometBFT's status and from decided blocks. */
export class EngineMetrics implements BlockWatcher {
  readonly #proposed: Counter;
  readonly #missed: Counter;
  readonly #rounds: Counter;
  /** Validators that may have signed the parent of the newest block. */
  #votes: LastCommit["votes"] = [];

  constructor({ metrics, view, supervisor, headAge, ownVotes }: EngineMetricsModules) {
    declareGauges(metrics, {
      peers: ["Connected peers of CometBFT.", () => view.peers.length],
      consensus_round: [
        "Round of the next block; each round above 0 means a late proposer.",
        () => view.step?.round ?? 0,
      ],
      consensus_quorum: [
        "1 while validators with more than two thirds of the voting power vote.",
        () => (view.quorum === "present" ? 1 : 0),
      ],
      unsigned_blocks: [
        "Consecutive newest blocks without this validator's signature; 0 if the node is not a validator.",
        () => ownVotes.unsigned,
      ],
      voting_power: ["Voting power of this node.", () => view.status?.votingPower ?? 0],
      validators: ["Validators of the newest block's parent.", () => this.#votes.length],
      validators_voting_power: [
        "Total voting power of the validators.",
        () => this.#votes.reduce((sum, { power }) => sum + power, 0),
      ],
      head_age_seconds: ["Age of the newest block.", () => headAge.ms / 1_000],
      engine_up: ["1 while CometBFT runs and answers.", () => (view.status === undefined ? 0 : 1)],
      engine_given_up: [
        "1 if CometBFT stays down; /readyz has the reason.",
        () => (supervisor.state.kind === "failed" ? 1 : 0),
      ],
      engine_restarts: ["Restarts of CometBFT since the start of the node.", () => supervisor.restartsTotal],
    });
    this.#proposed = metrics.counter({
      name: "proposed_blocks_total",
      help: "Decided blocks, by the validator that proposed them.",
      labels: ["validator"],
    });
    this.#missed = metrics.counter({
      name: "missed_votes_total",
      help: "Decided blocks without a validator's vote, by validator.",
      labels: ["validator"],
    });
    this.#rounds = metrics.counter({
      name: "lost_rounds_total",
      help: "Rounds that ended without a block.",
    });
  }

  finalized({ proposer, lastCommit: { round, votes } }: Pick<BlockInput, "proposer" | "lastCommit">): void {
    this.#votes = votes;
    this.#proposed.add(1, { validator: proposer });
    this.#rounds.add(round);
    for (const { address, flag } of votes) if (flag === "absent") this.#missed.add(1, { validator: address });
  }
}
