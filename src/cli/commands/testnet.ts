import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseGenesis } from "../../base/params/genesis.ts";
import { genesisBlock } from "../../chain/genesis-block.ts";
import { genesisForks, genesisRules } from "../../consensus/chain-start.ts";
import { engineGenesisJson } from "../../consensus/cometbft/home/config.ts";
import { createEngineGenesis, createEngineKeys, nodeIdOf } from "../../consensus/cometbft/home/home.ts";
import { validatorPublicKey } from "../../consensus/cometbft/signing/key-files.ts";
import { editAppToml } from "../../node/config/app-toml.ts";
import { cometbftPath } from "../../node/config/home.ts";
import { DEPLOY_FOLDER } from "../../node/config/package.ts";
import { parseDuration } from "../../node/config/value-types.ts";
import type { CliContext } from "../context.ts";
import { CommandError, UsageError } from "../errors.ts";
import { genesisText, makeHome } from "./init.ts";

export type TestnetOptions = {
  readonly output: string;
  readonly validators?: string;
  /** Nodes that follow the chain without a vote. */
  readonly fullNodes?: string;
  /** A geth genesis file; without it the chain gets the built-in one. */
  readonly genesis?: string;
  readonly chainId?: string;
  readonly fund?: readonly string[];
  readonly freeGas?: boolean;
  readonly jail?: boolean;
  readonly accountPermissions?: string;
  readonly blockTime?: string;
  /** First HTTP port; node i uses the ports of node 0 plus 10·i. */
  readonly httpPort?: string;
  /** Added to every port, so that several networks fit on one machine. */
  readonly portOffset?: string;
};

/** What CometBFT's own testnets stay below; votes of more than this fill a block. */
const VALIDATORS_MAX = 100;
const FULL_NODES_MAX = 100;
/** Between the ports of two nodes. */
const PORT_STEP = 10;
/** Default ports of node 0: CometBFT's peers, JSON-RPC and metrics. WebSocket uses the port after HTTP. */
const P2P_PORT = 26656;
const HTTP_PORT = 8545;
const METRICS_PORT = 6060;
const PORT_MAX = 65_535;
/** Only root listens below. */
const PORT_MIN = 1_024;
/** What Prometheus and Grafana read, of `deploy/`; the folder of the network gets a copy. */
const MONITORING_FILES = ["alerts.yaml", "grafana"];

/** Of node 0. */
type Ports = { readonly http: number; readonly p2p: number; readonly metrics: number };

type TestnetNode = {
  readonly name: string;
  readonly home: string;
  readonly index: number;
  readonly isValidator: boolean;
};

/** Writes the homes of a network on this machine: keys, ports, one genesis for all, a script that starts them, and a compose file that does with Prometheus and Grafana. */
export function testnet(options: TestnetOptions, context: CliContext): void {
  const output = resolve(options.output);
  if (existsSync(output) && readdirSync(output).length > 0) {
    throw new CommandError(`${output} is not empty; nothing was changed`);
  }
  const validators = numberOf("--validators", options.validators ?? "4", 1, VALIDATORS_MAX);
  const fullNodes = numberOf("--full-nodes", options.fullNodes ?? "0", 0, FULL_NODES_MAX);
  const lastPort = PORT_MAX - PORT_STEP * (validators + fullNodes);
  const offset = numberOf("--port-offset", options.portOffset ?? "0", PORT_MIN - METRICS_PORT, lastPort - P2P_PORT);
  const lowestHttp = offset < 0 ? PORT_MIN - offset : 1;
  const firstHttp = numberOf("--http-port", options.httpPort ?? String(HTTP_PORT), lowestHttp, lastPort - offset);
  const httpPort = offset + firstHttp;
  const first: Ports = { http: httpPort, p2p: P2P_PORT + offset, metrics: METRICS_PORT + offset };
  const blockTime = options.blockTime ?? "1s";
  if (!parseDuration(blockTime)) {
    throw new UsageError(`--block-time: ${blockTime} is not a duration such as 1s or 500ms`);
  }
  const genesis = genesisText(options, context);

  const nodes = Array.from({ length: validators + fullNodes }, (_, index): TestnetNode => {
    const isValidator = index < validators;
    const name = isValidator ? `validator-${index}` : `node-${index}`;
    return { name, home: join(output, name), index, isValidator };
  });
  mkdirSync(output, { recursive: true });
  for (const { home } of nodes) {
    makeHome(home, genesis);
    createEngineKeys(cometbftPath(home));
  }
  const engineGenesis = engineGenesisOf(genesis, nodes);
  const peers = nodes.map(
    ({ home, index }) => `${nodeIdOf(cometbftPath(home))}@127.0.0.1:${first.p2p + PORT_STEP * index}`,
  );
  for (const node of nodes) {
    createEngineGenesis(cometbftPath(node.home), engineGenesis);
    writeSettings(node, { blockTime, first, peers });
  }
  const script = join(output, "start.sh");
  writeFileSync(script, startScript(nodes.map(({ name }) => name)));
  chmodSync(script, 0o755);
  writeFileSync(join(output, "compose.yaml"), composeFile(nodes));
  const ports = nodes.map(({ index }) => first.metrics + PORT_STEP * index);
  writeFileSync(join(output, "prometheus.yaml"), prometheusFile(ports));
  for (const name of MONITORING_FILES) {
    cpSync(new URL(name, DEPLOY_FOLDER), join(output, name), { recursive: true });
  }
  context.stdout.write(
    [
      ...nodes.map(({ name, home, index }) => `${name}  http://127.0.0.1:${httpPort + PORT_STEP * index}  ${home}`),
      `start all  ${script}`,
      `one node   evmintd start --home ${nodes[0]!.home}`,
      "",
    ].join("\n"),
  );
}

function engineGenesisOf(text: string, nodes: readonly TestnetNode[]): string {
  const genesis = parseGenesis(text);
  const { block } = genesisBlock(genesis);
  return engineGenesisJson({
    chainId: genesis.config.chainId,
    genesisTime: block.header.timestamp,
    initialHeight: 1,
    validators: nodes
      .filter(({ isValidator }) => isValidator)
      .map(({ name, home }) => ({
        publicKey: validatorPublicKey(cometbftPath(home)),
        name,
      })),
    genesisHash: block.hash,
    rules: genesisRules(genesis.config),
    forks: genesisForks(genesis.config, block.header),
  });
}

function writeSettings(
  { home, index, name }: TestnetNode,
  network: {
    readonly blockTime: string;
    readonly first: Ports;
    readonly peers: readonly string[];
  },
): void {
  const loopback = (port: number) => ({ host: "127.0.0.1", port: port + PORT_STEP * index });
  const settings: readonly (readonly [key: string, value: unknown])[] = [
    ["consensus.engine", "cometbft"],
    ["consensus.block-time", { intervalMs: parseDuration(network.blockTime) }],
    ["cometbft.moniker", name],
    ["cometbft.local-net", true],
    ["cometbft.p2p-address", loopback(network.first.p2p)],
    ["cometbft.persistent-peers", network.peers.filter((_, peer) => peer !== index)],
    ["json-rpc.address", loopback(network.first.http)],
    ["json-rpc.ws-address", loopback(network.first.http + 1)],
    ["metrics.enable", true],
    ["metrics.address", loopback(network.first.metrics)],
  ];
  for (const [key, value] of settings) editAppToml(home, key, value);
}

function numberOf(flag: string, text: string, min: number, max: number): number {
  const value = /^-?\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${flag}: ${text} is not a number from ${min} to ${max}`);
}

/**
 * Starts every node in the background, and stops all of them when it is stopped. Each node is a separate job, so Ctrl-C does not reach the
 * nodes as well: a second signal ends a node at once. The script ends with the last node.
 */
function startScript(names: readonly string[]): string {
  return `#!/bin/sh
# Starts the nodes of this folder and stops them with Ctrl-C, a second one at once. EVMINTD names another program than the one on PATH.
cd "$(dirname "$0")" || exit 1
# Transactions that wait for a block are then copied less often: 15 % less CPU under load, 90 MB more memory a node.
export NODE_OPTIONS="\${NODE_OPTIONS:---max-semi-space-size=64}"
set -m 2>/dev/null
nodes=""
start() {
  "\${EVMINTD:-evmintd}" start --home "$1" > "$1/node.log" 2>&1 < /dev/null &
  nodes="$nodes $!"
}
trap 'kill $nodes 2>/dev/null' INT TERM HUP
${names.map((name) => `start ${name}`).join("\n")}
for node in $nodes; do
  while kill -0 "$node" 2>/dev/null; do wait "$node"; done
done
`;
}

/** Containers for the nodes, Prometheus and Grafana; on the host's network, because all nodes know each other by ports of 127.0.0.1. */
function composeFile(nodes: readonly { readonly name: string }[]): string {
  const services = nodes.map(
    ({ name }) => `  ${name}:
    <<: *node
    command: [start, --home, /net/${name}]
    volumes: ["./${name}:/net/${name}"]
    healthcheck:
      <<: *healthcheck
      test: [CMD, evmintd, ready, --home, /net/${name}]
`,
  );
  return `# docker compose up. EVMINT_IMAGE has evmintd and cometbft v0.40 on its PATH: the stage "network" of deploy/Dockerfile.
# Everything listens on loopback: Grafana on http://127.0.0.1:3000, Prometheus on port 9090.
name: evmint-network
x-node: &node
  image: \${EVMINT_IMAGE:-evmint-network}
  # The folders of the nodes belong to who made them: docker compose up with UID set (export UID) where that is not 1000.
  user: "\${UID:-1000}"
  network_mode: host
  read_only: true
  tmpfs: [/tmp]
  cap_drop: [ALL]
  security_opt: ["no-new-privileges:true"]
  restart: unless-stopped
  stop_grace_period: 30s
  logging: { driver: json-file, options: { max-size: 50m, max-file: "3" } }
x-healthcheck: &healthcheck
  interval: 10s
  timeout: 5s
  start_period: 60s
services:
${services.join("")}  prometheus:
    image: prom/prometheus:v3.5.0
    network_mode: host
    command: [--config.file=/etc/prometheus/prometheus.yaml, "--web.listen-address=127.0.0.1:9090"]
    volumes:
      - ./prometheus.yaml:/etc/prometheus/prometheus.yaml:ro
      - ./alerts.yaml:/etc/prometheus/alerts.yaml:ro
      - prometheus:/prometheus
    restart: unless-stopped
  grafana:
    image: grafana/grafana:12.1.0
    network_mode: host
    environment:
      PROMETHEUS_URL: http://127.0.0.1:9090
      GF_SERVER_HTTP_ADDR: 127.0.0.1
      GF_AUTH_ANONYMOUS_ENABLED: "true"
      # No administrator account, because its initial password is public. Set GF_SECURITY_ADMIN_PASSWORD to enable it.
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: "true"
      GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: /var/lib/grafana/dashboards/evmint.json
    volumes:
      - ./grafana/provisioning:/etc/grafana/provisioning:ro
      - ./grafana/dashboards:/var/lib/grafana/dashboards:ro
    restart: unless-stopped
volumes:
  prometheus:
`;
}

/** @param ports where the nodes serve their metrics */
function prometheusFile(ports: readonly number[]): string {
  return `global:
  scrape_interval: 5s
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: evmint
    static_configs:
      - targets: [${ports.map((port) => `"127.0.0.1:${port}"`).join(", ")}]
`;
}
