import type { Logger } from "../base/telemetry/logger.ts";
import type { Metrics } from "../base/telemetry/metrics.ts";
import { differingValues, RULES_ADDRESS } from "../chain/agreement/agreement.ts";
import type { Chain } from "../chain/chain.ts";
import { changedAddresses } from "../evm/state/state-changes.ts";
import type { Voting } from "./governance.ts";

type AgreementReportsModules = {
  readonly chain: Pick<Chain, "config" | "head" | "subscribe">;
  readonly voting: Pick<Voting, "agreementAt" | "snapshotAt">;
  readonly metrics: Pick<Metrics, "gaugeOf">;
  readonly log: Logger;
};

/** Reports the validators' agreements to operators before they take effect: in the log, and as metrics for alerts. */
export class AgreementReports {
  readonly #modules: AgreementReportsModules;
  #values = new Map<string, bigint>();
  /** Differing votes that were reported. */
  #differing = new Map<string, string>();

  constructor(modules: AgreementReportsModules) {
    this.#modules = modules;
    const { chain, voting, metrics } = modules;
    metrics.gaugeOf(
      {
        name: "unknown_fork_timestamp_seconds",
        help: "Start time of an agreed fork that this version does not know and before which it stops; 0 if none.",
      },
      () => chain.config.unknownFork?.time ?? 0,
    );
    metrics.gaugeOf({ name: "validators_jailed", help: "Validators recently removed for double signing." }, () => {
      const { signers, jailed = [] } = voting.snapshotAt(this.#head());
      return jailed.filter((record) => !signers.some(({ address }) => address === record.address)).length;
    });
    chain.subscribe(({ changes }) => {
      if (changedAddresses(changes).includes(RULES_ADDRESS)) this.report();
    });
  }

  /** Logs new agreements, and at the start all existing ones. */
  report(): void {
    const { chain, voting, log } = this.#modules;
    const { values, votes } = voting.agreementAt(this.#head());
    for (const { name, value } of values) {
      if (this.#values.get(name) !== value) log.info("the validators agreed on a rule", { name, value });
    }
    for (const name of this.#values.keys()) {
      if (!values.some((each) => each.name === name)) log.info("the validators no longer agree on a rule", { name });
    }
    this.#values = new Map(values.map(({ name, value }) => [name, value]));
    this.#reportDiffering(differingValues(votes));
    const { unknownFork } = chain.config;
    if (unknownFork === undefined) return;
    log.error("this version does not know a fork that the validators agreed on, and stops before it: upgrade evmintd", {
      ...unknownFork,
    });
  }

  /** Otherwise no operator would learn why a rule that all vote for is never agreed on. */
  #reportDiffering(differing: ReadonlyMap<string, readonly bigint[]>): void {
    for (const [name, values] of differing) {
      if (this.#differing.get(name) === values.join()) continue;
      const message = "votes on a rule name different values; only votes for the same value are counted together";
      this.#modules.log.warn(message, { name, values });
    }
    this.#differing = new Map([...differing].map(([name, values]) => [name, values.join()]));
  }

  #head(): number {
    return this.#modules.chain.head().block.header.number;
  }
}
