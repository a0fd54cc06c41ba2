import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "../../src/base/telemetry/logger.ts";
import type { Timers } from "../../src/base/telemetry/timers.ts";
import type { LimitChanges } from "../../src/node/config/config.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { type NodeInProcess, startNode } from "../../src/node/roles/start-node.ts";
import { ManualTimers } from "./base/telemetry/manual-timers.ts";
import { NodeLog } from "./node-log.ts";
import { PATIENT_ENVIRONMENT, patient } from "./patient.ts";
import { engineSettings } from "./test-engine.ts";
import { eventually } from "./until.ts";

export type TestNodeOptions = {
  /** A dev chain with its ten accounts. */
  readonly dev?: boolean;
  /** A geth genesis file, where `dev` is not set. */
  readonly genesis?: string;
  /** Blocks to import before the start. */
  readonly chainFile?: string;
  /** By key, as flags would set them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Limits that are no setting: low enough to be reached. Times are an hour otherwise (`patient`). */
  readonly limits?: LimitChanges;
  /** A home that stays; else one is made and removed. */
  readonly home?: string;
  readonly log?: Logger;
  /** Lines of level error that the node will log. `stop` fails if there are others, or if one is missing. */
  readonly expectedErrors?: readonly RegExp[];
  /** Lines of level error that may come: what decides is outside the node. */
  readonly possibleErrors?: readonly RegExp[];
  /** Faults of the store, and clocks: `ManualTimers` go on while the node stops. */
  readonly hooks?: Parameters<typeof startNode>[2];
};

export type TestNode = {
  readonly url: string;
  readonly wsUrl: string;
  readonly ipcPath: string;
  readonly home: string;
  readonly node: NodeInProcess;
  /** Makes one block now. */
  produceBlock(): void;
  /** Resolves once the chain has block `number`. */
  untilBlock(number: number): Promise<void>;
  /** Resolves with the first line of the log, of level info or above, that matches. */
  untilLogged(pattern: RegExp): Promise<string>;
  /** @throws AssertionError where the node logged errors that are not expected */
  stop(): Promise<void>;
};

/** `skip` of a test that moves the clock of its node. */
export const NEEDS_ONE_PROCESS =
  Number(process.env["TEST_PROCESSES"] ?? 0) > 0 && "left out: RPC processes have clocks of their own";

/** A setting of tests that control a dev chain, which only a node without RPC processes allows. */
export const ONE_PROCESS = { "json-rpc.processes": "0" };

/** A real node in this process, with free ports and its own home. */
export async function startTestNode(options: TestNodeOptions): Promise<TestNode> {
  const { dev = false, genesis, chainFile, settings = {}, limits } = options;
  const home = options.home ?? mkdtempSync(join(tmpdir(), "evmint-test-"));
  if (genesis) {
    mkdirSync(join(home, "config"), { recursive: true });
    copyFileSync(genesis, join(home, "config/genesis.json"));
  }
  const flags = {
    "json-rpc.enable": "true",
    "json-rpc.address": "127.0.0.1:0",
    "json-rpc.ws-address": "127.0.0.1:0",
    "json-rpc.api": "all",
    // `TEST_PROCESSES=2 npm test -- test/e2e` runs the tests over connections that other processes serve.
    "json-rpc.processes": process.env["TEST_PROCESSES"] ?? "0",
    ...settings,
    ...(await engineSettings(settings)),
  };
  const { config } = loadConfig({ home, dev, flags, environment: PATIENT_ENVIRONMENT, limits: patient(limits) });
  const log = new NodeLog(options.log);
  if (chainFile) {
    const work = { file: chainFile, onProgress() {}, signal: new AbortController().signal };
    await nodeOperations.importChain(config, log.logger, work);
  }
  const node = await startNode(config, log.logger, options.hooks);
  await node.processes?.ready();
  const urlOf = (kind: string) => node.listeners.find((each) => each.kind === kind)?.url ?? "";
  return {
    url: urlOf("http"),
    wsUrl: urlOf("ws"),
    ipcPath: urlOf("ipc"),
    home,
    node,
    produceBlock: () => void node.core.production.engine.produceBlock(),
    untilBlock(number) {
      const { chain } = node.core;
      const head = () => chain.head().block.header.number;
      if (head() >= number) return Promise.resolve();
      return eventually<void>(
        (resolve) => chain.subscribe(() => head() >= number && resolve()),
        () => `block ${number}; the head is ${head()}`,
      );
    },
    untilLogged: (pattern) => log.until(pattern),
    async stop() {
      await stopOn(options.hooks?.timers, node);
      if (!options.home) rmSync(home, { recursive: true, force: true });
      log.assertErrors(options.expectedErrors ?? [], options.possibleErrors);
    },
  };
}

/** A stop waits for its clients, on a clock that no test moves. */
async function stopOn(timers: Timers | undefined, node: NodeInProcess): Promise<void> {
  const stopping = node.stop();
  if (!(timers instanceof ManualTimers)) return stopping;
  let isStopped = false;
  const stopped = stopping.finally(() => {
    isStopped = true;
  });
  while (!isStopped) await timers.advance(GRACE_STEP_MS);
  await stopped;
}

const GRACE_STEP_MS = 100;
