import { existsSync } from "node:fs";
import { createLogger, type RootLogger } from "../../base/telemetry/create-logger.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { Config } from "../../node/config/config.ts";
import { assertDevIsPrivate, dangersOf } from "../../node/config/dangers.ts";
import { dataPath, devGenesisPath, genesisPath } from "../../node/config/home.ts";
import { packageVersion } from "../../node/config/package.ts";
import { installCrashPolicy } from "../../node/observe/crash-policy.ts";
import type { ChainStatus, RunningNode } from "../../node/roles/types.ts";
import { renderBanner } from "../banner.ts";
import { hasColors } from "../colors.ts";
import { type CliContext, nodeLogFormat, openNodeLog } from "../context.ts";
import { CommandError } from "../errors.ts";

/** Most starts end in this time, and then stop in order. */
const START_GRACE_MS = 2_000;

/** A node that has not stopped by then is stuck; everything it acknowledged is already on disk. */
const STOP_TIMEOUT_MS = 5000;
const DAY_MS = 86_400_000;

export type StartOptions = {
  /** The node is stopped when it ends. */
  readonly attended?: () => Promise<void>;
  readonly log?: RootLogger;
  /** Called with the chain once the node answers. */
  readonly onChain?: (chain: ChainStatus) => void;
  /** Called after it; prints where the node listens unless given. */
  readonly onStarted?: (node: RunningNode) => void;
};

/**
 * Runs a node until a signal asks it to stop, or until `attended` ends.
 * @throws errors of the start, `attended`, `onChain` and `onStarted`, and the failure of the node
 */
export async function start(config: Config, context: CliContext, options: StartOptions = {}): Promise<void> {
  const {
    attended = () => new Promise<never>(() => {}),
    onChain = () => {},
    onStarted = (node) => printStart(node, config, context),
  } = options;
  assertDevIsPrivate(config);
  assertRightHome(config);
  const { log = openNodeLog(config, context) } = options;
  const stopAsked = listenForStop(context);
  try {
    const operations = await context.loadOperations();
    const starting = operations.startNode(config, log);
    const dispose = exitWhileStarting(stopAsked.signal, context);
    const node = await starting.finally(dispose);
    const removeCrashPolicy = installCrashPolicy({
      source: context.crashSource,
      failures: node.failures,
      stop: () => node.stop(),
      exitNow: context.exitNow,
      timers: context.timers,
    });
    // A node that does not start is not dangerous, and users look for the reason in the first line.
    for (const danger of dangersOf(config)) log.warn("dangerous setting", { danger });
    await reportStart(node, () => {
      onChain(node.chain);
      onStarted(node);
    });
    const staying = stayAlive(context.timers);
    const reason = await Promise.race([
      stopAsked.signal,
      node.failure.then(asFailure),
      attended().catch(asFailure),
    ]).finally(() => staying.cancel());
    await stopWithin(STOP_TIMEOUT_MS, node, { log, timers: context.timers }).finally(removeCrashPolicy);
    if (typeof reason === "object") throw reason.error;
    log.info("stopped", { signal: reason ?? "none" });
  } finally {
    stopAsked.dispose();
  }
}

/** Stops a node whose start cannot be reported, since its user would not know that it runs. @throws errors of `report` */
async function reportStart(node: RunningNode, report: () => void): Promise<void> {
  try {
    report();
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** @throws CommandError when the home holds another kind of chain than the requested one, or none */
function assertRightHome({ home, dev }: Config): void {
  const configured = existsSync(genesisPath(home));
  if (dev && configured) {
    throw new CommandError(
      `${home} has a chain made by init, but --dev makes its own: omit --dev, or choose another --home`,
    );
  }
  if (!dev && !configured && (existsSync(devGenesisPath(home)) || existsSync(dataPath(home)))) {
    throw new CommandError(`${home} has a dev chain: add --dev`);
  }
  if (!dev && !configured) {
    throw new CommandError(
      `no chain in ${home}: create one with "evmintd init --home ${home}", or try "evmintd start --dev"`,
    );
  }
}

/** The first signal asks the node to stop; the second ends the process at once. */
function listenForStop({ onSignal, exitNow }: CliContext) {
  let resolve: (signal: string) => void;
  const signal = new Promise<string>((done) => {
    resolve = done;
  });
  let asked = false;
  const dispose = onSignal((name) => {
    if (asked) exitNow(name === "SIGINT" ? 130 : 143);
    asked = true;
    resolve(name);
  });
  return { signal, dispose };
}

/** Keeps the process alive: a node without listeners has no open handles, but must run on to make blocks. */
function stayAlive(timers: Timers): Timer {
  return timers.every(DAY_MS, "running node", () => {}, { keepsAlive: true });
}

/** A start that waits for the network, as state sync does, has nothing to lose: it is not waited for when a signal comes. */
function exitWhileStarting(signal: Promise<string>, { exitNow, timers }: CliContext): () => void {
  let timer: Timer | undefined;
  let isStarted = false;
  void signal.then((name) => {
    if (isStarted) return;
    const exit = () => exitNow(name === "SIGINT" ? 130 : 143);
    timer = timers.after(START_GRACE_MS, "stop of a start", exit, { keepsAlive: true });
  });
  return () => {
    isStarted = true;
    timer?.cancel();
  };
}

async function stopWithin(
  timeoutMs: number,
  node: RunningNode,
  { log, timers }: { readonly log: Logger; readonly timers: Timers },
): Promise<void> {
  log.debug("stopping");
  let timer: Timer | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const fail = () => reject(new CommandError(`the node did not stop within ${timeoutMs / 1000} s`));
    timer = timers.after(timeoutMs, "stop", fail, { keepsAlive: true });
  });
  try {
    await Promise.race([node.stop(), timeout]);
  } finally {
    timer?.cancel();
  }
}

/** The banner; one line of JSON where both outputs of the process go to a collector of JSON lines. */
function printStart({ chain, listeners }: RunningNode, config: Config, context: CliContext): void {
  const { stdout, now, environment } = context;
  const version = `v${packageVersion()}`;
  if (stdout.isTTY !== true && nodeLogFormat(config, context) === "json") {
    const log = createLogger({ level: "info", format: "json", now, write: (line) => stdout.write(line) });
    const { chainId, head } = chain;
    const { engine } = config.consensus;
    const listening = listeners.map(({ kind, url }) => ({ kind, url }));
    log.info("the node answers", { version, chainId, head, engine, home: config.home, listening });
    return;
  }
  const color = hasColors(stdout, environment);
  stdout.write(renderBanner({ version, config, chain, listeners, color, now: Math.floor(now() / 1000) }));
}

function asFailure(error: unknown): { readonly error: unknown } {
  return { error };
}
