import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { EngineRpcError } from "./engine-answers.ts";
import { ENGINE_RPC_SOCKET } from "./engine-config.ts";
import { engineRpcSocket } from "./engine-home.ts";
import { createEngineRpc } from "./engine-rpc.ts";

/** Opening the store after a kill replays its journal, which has a few megabytes. */
const WAIT_MS = 60_000;
const POLL_MS = 100;
const STOP_GRACE_MS = 5_000;

/**
 * Height of the newest block in CometBFT's store, 0 for an empty one, while CometBFT does not run: `cometbft inspect` opens the store, which it
 * locks, and serves it.
 * @param directory CometBFT's home
 * @throws EngineRpcError where it cannot be read
 */
export async function readStoreHeight(options: {
  readonly binary: string;
  readonly directory: string;
}): Promise<number> {
  const { binary, directory } = options;
  const path = engineRpcSocket(directory);
  rmSync(path, { force: true });
  const child = spawn(
    binary,
    ["inspect", "--home", directory, "--rpc.laddr", `unix://${ENGINE_RPC_SOCKET}`],
    {
      stdio: "ignore",
      cwd: directory,
    },
  );
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isRunning = false;
      resolve();
    };
    child.once("error", end);
    child.once("close", end);
  });
  const rpc = createEngineRpc(path);
  const until = performance.now() + WAIT_MS;
  let cause: unknown;
  try {
    while (isRunning && performance.now() < until) {
      try {
        return await rpc.storeHeight();
      } catch (error) {
        cause = error;
      }
      await setTimeout(POLL_MS);
    }
  } finally {
    child.kill("SIGTERM");
    await Promise.race([ended, setTimeout(STOP_GRACE_MS, undefined, { ref: false })]);
    child.kill("SIGKILL");
    await ended;
    rmSync(path, { force: true });
  }
  throw new EngineRpcError("the store of CometBFT cannot be read", { directory }, { cause });
}
