/** Writes `deploy/grafana/dashboards/evmint.json`. The panels are this table; test/e2e/dashboard.test.ts compares them with a node's metrics. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Panel = {
  readonly title: string;
  /** Of Grafana: s, bytes, reqps, none, … */
  readonly unit: string;
  /** PromQL by legend. */
  readonly queries: Readonly<Record<string, string>>;
};

const METRIC = /\bevmint_\w+/g;

/** Names of the metrics in PromQL. */
export function metricNames(query: string): string[] {
  return query.match(METRIC) ?? [];
}

const RATE = "[$__rate_interval]";

export const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Chain: [
    { title: "Head", unit: "none", queries: { block: "evmint_head_number" } },
    {
      title: "Age of the head",
      unit: "s",
      queries: { age: "time() - evmint_head_timestamp_seconds" },
    },
    {
      title: "Transactions a second",
      unit: "none",
      queries: { transactions: `rate(evmint_transactions_total${RATE})` },
    },
    {
      title: "Gas a second",
      unit: "none",
      queries: { gas: `rate(evmint_gas_used_total${RATE})` },
    },
    {
      title: "Trouble",
      unit: "none",
      queries: {
        "blocks stalled": "evmint_blocks_stalled",
        "transactions in quarantine": "evmint_quarantined_transactions",
        "failures a second, {{class}} {{where}}": `rate(evmint_failures_total${RATE})`,
        "clock jumps, {{kind}}": "evmint_clock_jumps_total",
      },
    },
  ],
  Pool: [
    {
      title: "Transactions",
      unit: "none",
      queries: { pending: "evmint_mempool_pending", queued: "evmint_mempool_queued" },
    },
    {
      title: "Memory",
      unit: "bytes",
      queries: {
        all: "evmint_mempool_bytes",
        queued: "evmint_mempool_queued_bytes",
        blobs: "evmint_mempool_blob_bytes",
        journal: "evmint_mempool_journal_bytes",
      },
    },
    {
      title: "Removed a second",
      unit: "none",
      queries: { "{{reason}}": `rate(evmint_txpool_removed_total${RATE})` },
    },
  ],
  "JSON-RPC": [
    {
      title: "Calls a second",
      unit: "reqps",
      queries: {
        "{{method}}": `sum by (method) (rate(evmint_rpc_request_duration_seconds_count${RATE}))`,
      },
    },
    {
      title: "Time of a call, 99th percentile",
      unit: "s",
      queries: {
        "{{method}}": `histogram_quantile(0.99, sum by (le, method) (rate(evmint_rpc_request_duration_seconds_bucket${RATE})))`,
      },
    },
    {
      title: "Errors and rejections a second",
      unit: "none",
      queries: {
        "error {{code}}": `sum by (code) (rate(evmint_rpc_errors_total${RATE}))`,
        "rejected {{reason}}": `sum by (reason) (rate(evmint_rpc_rejected_total${RATE}))`,
        failures: `sum(rate(evmint_rpc_failures_total${RATE}))`,
      },
    },
    {
      title: "Connections, subscriptions, filters",
      unit: "none",
      queries: {
        "{{transport}}": "evmint_rpc_connections",
        subscriptions: "evmint_rpc_subscriptions",
        filters: "evmint_rpc_filters",
      },
    },
    {
      title: "Calls that run and wait",
      unit: "none",
      queries: {
        "threads busy": "evmint_execution_threads_busy",
        "wait for a thread": "evmint_execution_threads_waiting",
        "wait for their turn": "evmint_rpc_calls_waiting",
      },
    },
    {
      title: "Memory of requests, answers and events",
      unit: "bytes",
      queries: {
        "{{budget}}": "evmint_rpc_memory_bytes",
        events: "evmint_rpc_notification_queue_bytes",
      },
    },
  ],
  Process: [
    { title: "Memory", unit: "bytes", queries: { resident: "evmint_resident_memory_bytes" } },
    { title: "Disk", unit: "bytes", queries: { "{{part}}": "evmint_disk_bytes", free: "evmint_disk_free_bytes" } },
    {
      title: "Keys",
      unit: "none",
      queries: {
        unlocked: "evmint_keys_unlocked",
        "wrong secrets": "evmint_keys_wrong_secrets_total",
      },
    },
  ],
};

/** Of nodes with CometBFT. */
export const NETWORK_ROWS: typeof ROWS = {
  Consensus: [
    { title: "Ready", unit: "none", queries: { ready: "evmint_ready", quorum: "evmint_consensus_quorum" } },
    { title: "Age of the newest block", unit: "s", queries: { age: "evmint_head_age_seconds" } },
    {
      title: "Rounds",
      unit: "none",
      queries: { round: "evmint_consensus_round", "lost a second": `rate(evmint_lost_rounds_total${RATE})` },
    },
    {
      title: "Voting power",
      unit: "none",
      queries: { own: "evmint_voting_power", all: "evmint_validators_voting_power", validators: "evmint_validators" },
    },
    {
      title: "Blocks by proposer, a second",
      unit: "none",
      queries: { "{{validator}}": `rate(evmint_proposed_blocks_total${RATE})` },
    },
    {
      title: "Blocks without a vote, a second",
      unit: "none",
      queries: { "{{validator}}": `rate(evmint_missed_votes_total${RATE})` },
    },
    { title: "Peers", unit: "none", queries: { peers: "evmint_peers" } },
    { title: "Clock less the network's", unit: "s", queries: { skew: "evmint_clock_skew_seconds" } },
    {
      title: "Trouble of the network",
      unit: "none",
      queries: {
        "engine restarts": "evmint_engine_restarts",
        "misbehaviour, {{kind}}": "evmint_misbehavior_total",
        "fork schedule": "evmint_fork_schedule_hash",
        "transactions put off, {{from}}": `rate(evmint_txpool_put_off_total${RATE})`,
      },
    },
  ],
};

const COLUMNS = 3;
const PANEL = { width: 24 / COLUMNS, height: 8 };

/** Chooses among the nodes that Prometheus scrapes; all of them at first. */
const INSTANCES = {
  name: "instance",
  label: "Node",
  type: "query",
  datasource: { type: "prometheus", uid: "prometheus" },
  query: "label_values(evmint_head_number, instance)",
  refresh: 2,
  multi: true,
  includeAll: true,
  current: { text: "All", value: "$__all" },
};

/** The dashboard in Grafana's JSON model. */
export function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of Object.entries({ ...ROWS, ...NETWORK_ROWS })) {
    panels.push({ id: panels.length + 1, type: "row", title, gridPos: { x: 0, y, w: 24, h: 1 } });
    for (const [index, panel] of row.entries()) {
      const x = (index % COLUMNS) * PANEL.width;
      const top = y + 1 + Math.floor(index / COLUMNS) * PANEL.height;
      const gridPos = { x, y: top, w: PANEL.width, h: PANEL.height };
      panels.push(timeSeries(panel, panels.length + 1, gridPos));
    }
    y += 1 + Math.ceil(row.length / COLUMNS) * PANEL.height;
  }
  return {
    uid: "evmint",
    title: "Evmint",
    schemaVersion: 41,
    refresh: "5s",
    time: { from: "now-30m", to: "now" },
    templating: { list: [INSTANCES] },
    panels,
  };
}

function timeSeries({ title, unit, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: "timeseries",
    title,
    gridPos,
    datasource: { type: "prometheus", uid: "prometheus" },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      legendFormat: `${legendFormat} {{instance}}`,
      expr: expr.replace(METRIC, '$&{instance=~"$instance"}'),
    })),
  };
}

export const DASHBOARD_PATH = fileURLToPath(new URL("../deploy/grafana/dashboards/evmint.json", import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(DASHBOARD_PATH, `${JSON.stringify(dashboard(), null, 2)}\n`);
}
