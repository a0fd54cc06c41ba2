import { NodeError } from "../../errors.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Restore } from "../state-sync/restore.ts";
import { createRestoreHandlers } from "./abci-handlers.ts";
import { type AbciHandlers, type AbciServer, listenAbci } from "./abci-server.ts";
import type { EngineFault, EngineProcess } from "./engine-process.ts";
import { CALLS, type CallName } from "./messages.ts";

/** No snapshot could be restored. */
export class StateSyncError extends NodeError {
  readonly code = "ENGINE_STATE_SYNC";
}

export type StateSyncOptions = {
  readonly abciSocket: string;
  readonly version: string;
  /** Runs of CometBFT before it is given up. */
  readonly attemptsMax?: number;
  /** Pause before the second run; doubled before each further one. */
  readonly firstPauseMs?: number;
};

export type StateSyncModules = {
  readonly restore: Restore;
  /** Starts CometBFT with state sync switched on; `onFault` is called for what its log shows. */
  readonly start: (onFault: (fault: EngineFault) => void) => EngineProcess;
  readonly log: Logger;
  readonly wait?: (ms: number) => Promise<void>;
};

/** CometBFT, with its socket, after state sync: it waits for the application of the restored chain. */
export type SyncedEngine = {
  /** Hands over: waiting and all further calls are answered by `handlers`. */
  attach(options: {
    readonly handlers: AbciHandlers;
    readonly onEngineLost: () => void;
    readonly onFailure: (error: unknown, call: string) => void;
  }): AbciServer;
  /** The running process, whose fault goes to `onFault`, also one that its log has shown already. */
  adopt(onFault: (fault: EngineFault) => void): EngineProcess;
  /** Ends both, where nothing was handed over. */
  close(): Promise<void>;
};

const ATTEMPTS_MAX = 5;
const FIRST_PAUSE_MS = 1_000;
const STOP_GRACE_MS = 5_000;

/**
 * Runs CometBFT until a snapshot of a peer is restored. CometBFT goes on at once with the next block and cannot be restarted before it has
 * it: that call waits until `attach`.
 * @throws StateSyncError
 */
export async function syncState(
  options: StateSyncOptions,
  { restore, start, log, wait = pause }: StateSyncModules,
): Promise<SyncedEngine> {
  const { attemptsMax = ATTEMPTS_MAX, firstPauseMs = FIRST_PAUSE_MS } = options;
  let onEngineLost = () => {};
  let onFailure = (error: unknown, call: string) => log.warn("state sync failed", { call, error });
  let onRestored = () => {};
  const own = restoreHandlers(options.version, restore, () => onRestored());
  const waiting = switchableHandlers(own);
  const server = await listenAbci(
    {
      path: options.abciSocket,
      onEngineLost: () => onEngineLost(),
      onFailure: (error, call) => onFailure(error, call),
    },
    waiting.handlers,
  );
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    let fault: EngineFault | undefined;
    let onFault = (seen: EngineFault) => {
      fault = seen;
      if (seen.kind === "stateSyncFailed") void run.stop(STOP_GRACE_MS);
    };
    const done = new Promise<"restored">((resolve) => {
      onRestored = () => resolve("restored");
    });
    const run: EngineProcess = start((seen) => onFault(seen));
    const exit = await Promise.race([done, run.exited]);
    if (exit === "restored") {
      return {
        attach(next) {
          ({ onEngineLost, onFailure } = next);
          waiting.attach(next.handlers);
          return server;
        },
        adopt(next) {
          onFault = next;
          const seen = fault;
          // The new owner has the process first.
          if (seen !== undefined) queueMicrotask(() => next(seen));
          return run;
        },
        async close() {
          await run.stop(STOP_GRACE_MS);
          await server.close();
        },
      };
    }
    log.warn("state sync starts again", { attempt, fault, words: exit.words });
    if (attempt < attemptsMax) await wait(firstPauseMs * 2 ** (attempt - 1));
  }
  await server.close();
  throw new StateSyncError(
    "no snapshot could be restored from the network; without cometbft.state-sync-servers all blocks are fetched",
  );
}

/** @param onRestored called when CometBFT asks for the height that was restored: its last call before blocks */
function restoreHandlers(version: string, restore: Restore, onRestored: () => void) {
  const handlers = createRestoreHandlers(version, restore);
  return {
    ...handlers,
    info() {
      if (restore.restored()) onRestored();
      return handlers.info();
    },
  };
}

type Handle = (fields: never) => object | Promise<object>;
type HandledCall = keyof AbciHandlers;

const HANDLED = (Object.keys(CALLS) as CallName[]).filter(
  (name): name is HandledCall => name !== "echo" && name !== "flush",
);

/** Answers by `own` what a node without a chain can answer; every other call waits until `attach`. */
function switchableHandlers(own: Partial<AbciHandlers>) {
  let attached: AbciHandlers | undefined;
  let resolve: (handlers: AbciHandlers) => void = () => {};
  const whenAttached = new Promise<AbciHandlers>((resolved) => {
    resolve = resolved;
  });
  const handle =
    (name: HandledCall): Handle =>
    (fields) => {
      const now = attached?.[name] ?? own[name];
      if (now) return (now as Handle)(fields);
      return whenAttached.then((handlers) => (handlers[name] as Handle)(fields));
    };
  return {
    handlers: Object.fromEntries(HANDLED.map((name) => [name, handle(name)])) as AbciHandlers,
    attach(handlers: AbciHandlers) {
      attached = handlers;
      resolve(handlers);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
