import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Suite, SuiteResult } from "../conformance/suite.ts";
import { DEV_KEYS } from "../support/accounts.ts";
import { freePort } from "../support/free-port.ts";

const ANVIL = fileURLToPath(new URL("../../bin/evmint-anvil.js", import.meta.url));

/** Suites of other projects whose packages have their tests. */
type PeerSuite = {
  readonly name: string;
  /** Of PyPI, with versions. */
  readonly packages: readonly string[];
  /** Left out of the count of failures, each with its reason. */
  readonly expected: readonly (readonly [test: string, reason: string])[];
  run(environment: Environment): Promise<PytestResult>;
};

type Environment = {
  /** Python of the suite's own environment. */
  readonly python: string;
  /** For files of the run. */
  readonly dir: string;
};

type PytestResult = { readonly passed: number; readonly failures: readonly string[] };

const SUITES: readonly PeerSuite[] = [
  {
    name: "web3.py",
    packages: ["web3==8.0.0", "pytest==9.2.0", "pytest-asyncio==1.5.0", "pytest-timeout==2.4.0"],
    expected: [
      ["_ens", "its stand-in for ENS does not fit the library of its own release"],
      ["test_eth_sign_typed_data", "its asynchronous middleware fails before it asks the node"],
      ["test_invalid_eth_sign_typed_data", "expects another error text"],
      ["test_sign_authorization_send_raw", "meets a waiting transaction of the tests before it"],
      ["test_async_sign_authorization_send_raw", "the same"],
      ["test_eth_new_filter", "fails where a block comes between two of its calls"],
    ],
    async run({ python, dir }) {
      // The id that its tests expect. Blocks come each second: tests of replacements need a transaction that waits.
      const port = await freePort();
      const node = await startNode(port, ["--block-time", "1", "--chain-id", "131277322940537"]);
      try {
        const environment = { NODE_URL: `http://127.0.0.1:${port}`, NODE_KEY: DEV_KEYS[0] };
        return pytest(python, dir, [fileURLToPath(new URL("web3py", import.meta.url))], environment);
      } finally {
        await stopNode(node);
      }
    },
  },
  {
    name: "ape-foundry",
    packages: [
      ...["ape-foundry==0.8.12", "eth-ape==0.8.51", "ape-alchemy==0.8.11", "ape-optimism==0.8.3", "ape-polygon==0.8.3"],
      ...[
        "ape-tokens==0.8.9",
        "pytest==8.4.2",
        "pytest-mock==3.17.0",
        "pytest-benchmark==5.3.1",
        "pytest-timeout==2.4.0",
      ],
      // What reads the metadata of the source package.
      ...["setuptools<81", "setuptools_scm", "wheel"],
    ],
    expected: [
      ["test_base_fee", "wants a base fee that does not fall, which is not anvil's any more"],
      ["test_gas_price", "wants a price of 1 gwei, where the setting says 0"],
    ],
    async run({ python, dir }) {
      const download = [
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-binary",
        "ape-foundry",
        "ape-foundry==0.8.12",
      ];
      must(python, [...download, "--no-build-isolation", "-d", dir]);
      must("tar", ["xzf", join(dir, "ape_foundry-0.8.12.tar.gz"), "-C", dir]);
      // Ape starts the first anvil on the PATH.
      const bin = join(dir, "bin");
      mkdirSync(bin);
      symlinkSync(ANVIL, join(bin, "anvil"));
      const folder = join(dir, "ape_foundry-0.8.12");
      const environment = { PATH: `${bin}:${process.env["PATH"]}`, HOME: dir };
      return pytest(python, dir, ["tests/test_provider.py", "-k", "not fork"], environment, folder);
    },
  },
];

/**
 * `npm run conformance -- peers [--only NAME]`: tests of other projects against the drop-in for anvil. Their packages are installed
 * from PyPI into an environment of each suite, in `PEERS_DIR` or the system's folder for temporary files.
 */
export const run: Suite = async (args) => {
  const { values } = parseArgs({ args: [...args], options: { only: { type: "string", default: "" } } });
  const home = process.env["PEERS_DIR"] ?? join(tmpdir(), "evmint-peers");
  let [passed, failed] = [0, 0];
  for (const suite of SUITES.filter(({ name }) => name.includes(values.only))) {
    const result = await runSuite(suite, home);
    passed += result.passed;
    failed += result.failed;
  }
  return { passed, failed };
};

async function runSuite({ name, packages, expected, ...suite }: PeerSuite, home: string): Promise<SuiteResult> {
  const environment = join(home, name);
  mkdirSync(home, { recursive: true });
  must("python3", ["-m", "venv", environment]);
  const python = join(environment, "bin", "python");
  must(python, ["-m", "pip", "install", "-q", ...packages]);
  const dir = mkdtempSync(join(tmpdir(), "evmint-peer-"));
  try {
    const { passed, failures } = await suite.run({ python, dir });
    const reasonOf = (test: string) => expected.find(([part]) => test.includes(part))?.[1];
    const unexpected = failures.filter((test) => reasonOf(test) === undefined);
    for (const test of unexpected) console.log(`${name}: ${test}`);
    const rest = failures.length - unexpected.length;
    console.log(`${packages[0]}: ${passed} passed, ${unexpected.length} failed, ${rest} left out`);
    return { passed, failed: unexpected.length };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @throws Error with what the program wrote, where it failed */
function must(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

function pytest(
  python: string,
  dir: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd = dir,
): PytestResult {
  const settings = join(dir, "pytest.ini");
  writeFileSync(settings, "[pytest]\nasyncio_mode = auto\n");
  const flags = ["-q", "-rf", "--tb=no", "--timeout=60", "-p", "no:cacheprovider", "-c", settings, "--rootdir", cwd];
  const { stdout, stderr } = spawnSync(python, ["-m", "pytest", ...flags, ...args], {
    encoding: "utf8",
    cwd,
    env: { ...process.env, ...environment },
    maxBuffer: 1 << 26,
  });
  const passed = /(\d+) passed/.exec(stdout)?.[1];
  if (passed === undefined) throw new Error(`pytest: ${stdout.slice(-2000)}${stderr.slice(-2000)}`);
  const failures = [...stdout.matchAll(/^(?:FAILED|ERROR) \S*?::(.+?)(?: - .*)?$/gm)].map(([, test]) => test!);
  return { passed: Number(passed), failures };
}

async function startNode(port: number, flags: readonly string[]): Promise<ChildProcess> {
  const node = spawn(process.execPath, [ANVIL, "-p", `${port}`, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: node.stdout! })) {
    if (line.startsWith("Listening on")) {
      node.stdout!.resume();
      return node;
    }
  }
  throw new Error("evmint-anvil ended before it listened");
}

async function stopNode(node: ChildProcess): Promise<void> {
  const ended = once(node, "exit");
  node.kill();
  await ended;
}
