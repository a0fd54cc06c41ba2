import { spawn } from "node:child_process";
import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../../base/errors.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { makeFolder, syncDirectory } from "../../../store/storage/make-folder.ts";
import { ENGINE_RPC_SOCKET } from "../home/config.ts";
import { BLOCK_STORE, engineRpcSocket } from "../home/home.ts";
import { EngineRpcError } from "../rpc/answers.ts";
import { createEngineRpc, type EngineRpc } from "../rpc/client.ts";

/** A stopped CometBFT whose store is read or changed. */
type StoppedEngine = {
  readonly binary: string;
  /** CometBFT's home. */
  readonly directory: string;
};

/** Opening the store after a kill replays its journal, which has a few megabytes. */
const WAIT_MS = 60_000;
const POLL_MS = 100;
const STOP_GRACE_MS = 5_000;

type StoreTimers = Pick<Timers, "now" | "after" | "sleep">;

/**
 * Height of the newest block in CometBFT's store, 0 for an empty one.
 * @throws EngineRpcError if it cannot be read
 */
export function readStoreHeight(engine: StoppedEngine, timers: StoreTimers): Promise<number> {
  return inspectStore(engine, timers, (rpc) => rpc.storeHeight());
}

/** Heights of the first and the newest block in CometBFT's store; 0 for an empty one. */
export type StoreRange = { readonly base: number; readonly height: number };

/** @throws EngineRpcError if it cannot be read */
export function readStoreRange(engine: StoppedEngine, timers: StoreTimers): Promise<StoreRange> {
  return inspectStore(engine, timers, async (rpc) => {
    const height = await rpc.storeHeight();
    return { height, base: height === 0 ? 0 : await rpc.storeBase() };
  });
}

/** The result of `ask` about the store: `cometbft inspect` opens and locks it as CometBFT does, and serves it. */
async function inspectStore<T>(
  { binary, directory }: StoppedEngine,
  timers: StoreTimers,
  ask: (rpc: EngineRpc) => Promise<T>,
): Promise<T> {
  const path = engineRpcSocket(directory);
  rmSync(path, { force: true });
  const child = spawn(binary, ["inspect", "--home", directory, "--rpc.laddr", `unix://${ENGINE_RPC_SOCKET}`], {
    stdio: "ignore",
    cwd: directory,
  });
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isRunning = false;
      resolve();
    };
    child.once("error", end);
    child.once("close", end);
  });
  const rpc = createEngineRpc(path, timers);
  const until = timers.now() + WAIT_MS;
  let cause: unknown;
  try {
    while (isRunning && timers.now() < until) {
      try {
        return await ask(rpc);
      } catch (error) {
        cause = error;
      }
      await timers.sleep(POLL_MS);
    }
  } finally {
    child.kill("SIGTERM");
    await Promise.race([ended, timers.sleep(STOP_GRACE_MS, { keepsAlive: false })]);
    child.kill("SIGKILL");
    await ended;
    rmSync(path, { force: true });
  }
  throw new EngineRpcError("the store of CometBFT cannot be read", { directory }, { cause });
}

/** `cometbft rollback` failed; the store is unchanged. */
class EngineRollbackError extends NodeError {
  readonly code = "ENGINE_ROLLBACK_FAILED";
}

/** Longer than any text of CometBFT itself. */
const WORDS_CHARS_MAX = 2_000;

/**
 * Removes the result of the newest block from CometBFT's state (`cometbft rollback`, without `--hard`): it executes that block again at its next
 * start. All blocks stay. If the newest block has no result yet, nothing changes, so the call can be repeated.
 * @throws EngineRollbackError
 */
export async function forgetLastResult({ binary, directory }: StoppedEngine): Promise<void> {
  const child = spawn(binary, ["rollback", "--home", directory], {
    stdio: ["ignore", "ignore", "pipe"],
    cwd: directory,
  });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(0, WORDS_CHARS_MAX);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return;
  const text = /^ERROR: (.*)$/m.exec(words)?.[1] ?? words.trim();
  throw new EngineRollbackError(`cometbft rollback ended with ${code}: ${text}`, { code, directory });
}

/** Signing states of current, future and former keys. They are never moved: without its state a key signs twice. */
const SIGNING_STATES = /^priv_validator_state/;

/**
 * Moves CometBFT's data to the folder `target`, except for the signing state. The block store comes last, so that a CometBFT started after a
 * crash in between does not take the rest for a new store. A second call moves what the first has left.
 */
export function setAsideStore(directory: string, target: string): void {
  const data = join(directory, "data");
  const names = readdirSync(data).filter((name) => !SIGNING_STATES.test(name));
  names.sort((left, right) => Number(left === BLOCK_STORE) - Number(right === BLOCK_STORE));
  makeFolder(target);
  for (const name of names) {
    renameSync(join(data, name), join(target, name));
    syncDirectory(data);
  }
  syncDirectory(target);
}
