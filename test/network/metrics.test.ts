import assert from "node:assert/strict";
import { test } from "node:test";
import { metricNames, NETWORK_ROWS } from "../../scripts/grafana-dashboard.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

type Exposition = {
  has(metric: string): boolean;
  /** The sum over all labels. */
  sum(metric: string): number;
  labels(metric: string): readonly string[];
};

async function scrapeNode(node: NetworkNode): Promise<Exposition> {
  const text = await node.metrics();
  const series = [...text.matchAll(/^(evmint_\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = "", value]) => ({
    name,
    labels,
    value: Number(value),
  }));
  const of = (metric: string) => series.filter(({ name }) => name === metric);
  return {
    has: (metric) => text.includes(`# HELP ${metric} `),
    sum: (metric) => of(metric).reduce((sum, { value }) => sum + value, 0),
    labels: (metric) => of(metric).map(({ labels }) => labels),
  };
}

test("metrics of four validators say what they do, and what one of them does not", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.start(4, 0);
  t.after(() => network.stop());
  const [first, , , last] = network.nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  const scrape = (index: number) => scrapeNode(network.nodes[index]!);
  const sees = (what: string, index: number, condition: (metrics: Exposition) => boolean) =>
    eventually(what, async () => condition(await scrape(index)));

  await sees("ready, with peers and quorum", 0, ({ sum }) => {
    return sum("evmint_ready") === 1 && sum("evmint_peers") === 3 && sum("evmint_consensus_quorum") === 1;
  });
  await sees("all have proposed", 0, ({ labels }) => labels("evmint_proposed_blocks_total").length === 4);
  const healthy = await scrape(0);
  for (const panels of Object.values(NETWORK_ROWS)) {
    for (const name of panels.flatMap(({ queries }) => Object.values(queries)).flatMap(metricNames)) {
      assert.ok(healthy.has(name), name);
    }
  }
  assert.equal(healthy.sum("evmint_validators"), 4);
  assert.equal(healthy.sum("evmint_validators_voting_power"), 4 * healthy.sum("evmint_voting_power"));
  assert.ok(healthy.sum("evmint_head_age_seconds") < 4);
  assert.ok(healthy.sum("evmint_disk_free_bytes") > 0);
  assert.equal(healthy.sum("evmint_engine_up"), 1);
  const schedules = await Promise.all(
    [0, 1, 2, 3].map(async (index) => (await scrape(index)).sum("evmint_fork_schedule_hash")),
  );
  assert.equal(new Set(schedules).size, 1);

  await last.killBoth();
  const before = await scrape(0);
  await sees("the one that is down misses votes and rounds", 0, ({ sum }) => {
    const missed = sum("evmint_missed_votes_total") - before.sum("evmint_missed_votes_total");
    return (
      missed >= 5 &&
      sum("evmint_lost_rounds_total") > before.sum("evmint_lost_rounds_total") &&
      sum("evmint_peers") === 2
    );
  });
  last.start();
  await sees("it is back", 0, ({ sum }) => sum("evmint_peers") === 3);

  first.killEngine();
  await sees("a restart of CometBFT is counted", 0, ({ sum }) => {
    return sum("evmint_engine_restarts") === 1 && sum("evmint_engine_up") === 1;
  });
});
