import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { metricNames } from "../../scripts/grafana-dashboard.ts";
import { ROOT } from "../../scripts/reference/page.ts";
import { runCli } from "../../src/cli/program.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { formatHostPort } from "../../src/node/config/value-types.ts";
import { fakeContext } from "../support/cli/fake-context.ts";

type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly network_mode?: string;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
type Prometheus = {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }[];
};

const deploy = join(ROOT, "deploy");
const folder = mkdtempSync(join(tmpdir(), "evmint-compose-"));
const net = join(folder, "net");
const VALIDATORS = ["validator-0", "validator-1", "validator-2", "validator-3"];

before(async () => {
  const { context, output } = fakeContext();
  assert.equal(await runCli(["testnet", "--output", net], context), 0, output.stderr);
});
after(() => rmSync(folder, { recursive: true }));

/** Merge keys (`<<`) are of YAML 1.1, which compose files use. */
const read = <T>(path: string): T => parse(readFileSync(path, "utf8"), { merge: true }) as T;

function targetsOf(path: string): readonly string[] {
  const { scrape_configs: jobs } = read<Prometheus>(path);
  return jobs.flatMap(({ static_configs: groups }) => groups.flatMap(({ targets }) => targets));
}

for (const [name, at] of [
  ["of one node", deploy],
  ["of four validators", net],
] as const) {
  test(`every file and volume that the compose file ${name} mounts exists`, () => {
    const { services, volumes } = read<Compose>(join(at, "compose.yaml"));
    for (const [service, { volumes: mounts = [] }] of Object.entries(services)) {
      for (const mount of mounts) {
        const [source = "", target = ""] = mount.split(":");
        assert.ok(target.startsWith("/"), `${service}: ${mount}`);
        const exists = source.startsWith("./") ? existsSync(join(at, source)) : Object.hasOwn(volumes, source);
        assert.ok(exists, `${service}: ${mount}`);
      }
    }
  });

  test(`Prometheus ${name} finds its rules, and Grafana its data source and dashboard`, () => {
    const { services } = read<Compose>(join(at, "compose.yaml"));
    const { prometheus, grafana } = services;
    const mounted = prometheus!.volumes!.map((mount) => mount.split(":")[1]!);
    const { rule_files: rules } = read<Prometheus>(join(at, "prometheus.yaml"));
    for (const rule of rules) {
      assert.ok(mounted.some((path) => basename(path) === rule && dirname(path) === "/etc/prometheus"));
    }
    const provisioning = join(at, "grafana/provisioning");
    const { datasources } = read<{ datasources: readonly { url: string; uid: string }[] }>(
      join(provisioning, "datasources/prometheus.yaml"),
    );
    const [source] = datasources;
    assert.equal(source!.uid, "prometheus");
    // Else the administrator's password is "admin".
    assert.equal(grafana!.environment!["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"], "true");
    assert.match(source!.url, /^\$\{PROMETHEUS_URL\}$/);
    assert.match(grafana!.environment!["PROMETHEUS_URL"]!, /^http:\/\/[\w.]+:9090$/);
    const { providers } = read<{ providers: readonly { options: { path: string } }[] }>(
      join(provisioning, "dashboards/evmint.yaml"),
    );
    const home = grafana!.environment!["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]!;
    const inContainer = providers[0]!.options.path;
    assert.equal(dirname(home), inContainer);
    const mount = grafana!.volumes!.find((each) => each.split(":")[1] === inContainer);
    assert.ok(existsSync(join(at, mount!.split(":")[0]!, basename(home))));
  });
}

test("Prometheus scrapes the node where it serves its metrics", () => {
  const { services } = read<Compose>(join(deploy, "compose.yaml"));
  const { command = [], ports = [], build } = services["node"]!;
  const port = command[command.indexOf("--metrics.address") + 1]!.split(":")[1];
  assert.deepEqual(targetsOf(join(deploy, "prometheus.yaml")), [`node:${port}`]);
  for (const each of ports) assert.match(each, /^127\.0\.0\.1:\d+:\d+$/);
  assert.ok(existsSync(join(deploy, build!.context, build!.dockerfile)));
});

test("each validator starts from its home, is asked in its home and scraped at its own port", () => {
  const { services } = read<Compose>(join(net, "compose.yaml"));
  assert.deepEqual(Object.keys(services), [...VALIDATORS, "prometheus", "grafana"]);
  const used = new Set<string>();
  const scraped = VALIDATORS.map((name) => {
    const { config } = loadConfig({
      home: join(net, name),
      dev: false,
      flags: {},
      environment: {},
    });
    const { command, volumes, healthcheck, network_mode: network } = services[name]!;
    assert.deepEqual(command, ["start", "--home", `/net/${name}`]);
    assert.deepEqual(volumes, [`./${name}:/net/${name}`]);
    assert.equal(network, "host");
    const { jsonRpc, metrics, cometbft } = config;
    assert.deepEqual(healthcheck!.test, ["CMD", "evmintd", "ready", "--home", `/net/${name}`]);
    const { p2pAddress } = cometbft;
    for (const address of [jsonRpc.address, jsonRpc.wsAddress, metrics.address, p2pAddress]) {
      assert.ok(!used.has(formatHostPort(address)), formatHostPort(address));
      used.add(formatHostPort(address));
    }
    assert.ok(metrics.enable);
    return formatHostPort(metrics.address);
  });
  assert.deepEqual(targetsOf(join(net, "prometheus.yaml")), scraped);
});

test("every alert is about a metric that exists", () => {
  const page = readFileSync(join(ROOT, "docs/reference/metrics.md"), "utf8");
  type Alerts = { groups: readonly { rules: readonly { alert: string; expr: string }[] }[] };
  const rules = read<Alerts>(join(deploy, "alerts.yaml")).groups.flatMap((group) => group.rules);
  assert.ok(rules.length >= 5);
  for (const { alert, expr } of rules) {
    for (const name of metricNames(expr)) assert.ok(page.includes(`\`${name}\``), `${alert}: ${name}`);
  }
});

/** Instructions of the Dockerfile, with continued lines as one. */
function instructions(): readonly string[] {
  const text = readFileSync(join(deploy, "Dockerfile"), "utf8").replace(/\\\n\s*/g, " ");
  return text.split("\n").filter((line) => /^[A-Z]/.test(line));
}

test("what the Dockerfile copies is in the repository, or comes from a stage before", () => {
  const ignored = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");
  const stages: string[] = [];
  for (const line of instructions()) {
    const [, stage] = /^FROM .* AS (\S+)$/.exec(line) ?? [];
    if (stage !== undefined) stages.push(stage);
    const [name, ...words] = line.split(/\s+/);
    if (name !== "COPY") continue;
    const [, from] = /^--from=(\S+)$/.exec(words[0]!) ?? [];
    if (from !== undefined) assert.ok(stages.slice(0, -1).includes(from), line);
    else
      for (const source of words.slice(0, -1)) {
        assert.ok(existsSync(join(ROOT, source)) && !ignored.includes(source), line);
      }
  }
});

test("the image runs on a Node.js that the package supports, not as root, and asks its node whether it is ready", () => {
  const lines = instructions();
  const { engines, bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [least] = /\d+/.exec(engines.node)!;
  for (const line of lines.filter((each) => each.startsWith("FROM node:"))) {
    assert.ok(Number(/^FROM node:(\d+)-\w+-slim/.exec(line)![1]) >= Number(least), line);
  }
  const after = (prefix: string) => lines.findIndex((each) => each.startsWith(prefix));
  assert.ok(lines.includes("USER node") && after("USER node") < after("ENTRYPOINT"));
  const health = lines.find((each) => each.startsWith("HEALTHCHECK"))!;
  const command = JSON.parse(health.slice(health.indexOf("["))) as readonly string[];
  assert.deepEqual(command, ["evmintd", "ready"]);
  const entry = JSON.parse(lines.find((each) => each.startsWith("ENTRYPOINT"))!.slice(11));
  assert.ok(Object.hasOwn(bin, entry[0]));
});

test("the image with CometBFT is a stage of the Dockerfile, and the last stage is the node alone", () => {
  const stages = readFileSync(join(deploy, "Dockerfile"), "utf8").match(/^FROM .*$/gm)!;
  assert.ok(stages.includes("FROM evmint AS network"));
  assert.equal(stages.at(-1), "FROM evmint");
});
