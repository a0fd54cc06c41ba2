import { connect } from "node:net";
import { join } from "node:path";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import { callEngine, parseRpcAddress } from "../../../src/consensus/cometbft/rpc/client.ts";
import { BlockStore } from "./disk/block-store.ts";
import { StateStore } from "./disk/state-store.ts";
import { EngineNode, VERSION } from "./node.ts";
import { RpcServer } from "./rpc-server.ts";
import { absoluteAddress, readGenesis, readKeys, readSettings } from "./settings.ts";
import type { System, World } from "./world.ts";

const USAGE_ERROR = 1;

/**
 * One run of the program `cometbft`, as `src/consensus/cometbft` starts it. It ends when `world.exit` is called, or when nothing of the process runs any
 * more, as after SIGKILL.
 * @param args `start --home DIR` or `inspect --home DIR --rpc.laddr ADDRESS`
 */
export function runCometBft(args: readonly string[], world: World): void {
  const [command] = args;
  const home = flagOf(args, "--home");
  if (command === "start" && home !== undefined) {
    void new EngineNode(home, world, world.system ?? NODE_SYSTEM).run();
  } else if (command === "inspect" && home !== undefined) {
    inspect(home, flagOf(args, "--rpc.laddr"), world);
  } else {
    world.stderr(`ERROR: unknown command "${args.join(" ")}" for "cometbft"`);
    world.exit(USAGE_ERROR);
  }
}

/** Serves the files of a stopped node. */
function inspect(home: string, address: string | undefined, world: World): void {
  const data = join(home, "data");
  const settings = readSettings(home);
  const keys = readKeys(home, settings.keyFile);
  const info = { id: keys.nodeId, network: readGenesis(home).chainId, moniker: "", version: VERSION, listen: "" };
  const rpc = new RpcServer({ blocks: new BlockStore(data), states: new StateStore(data), keys, info });
  world.serveHttp(absoluteAddress(address ?? settings.rpcAddress, home), rpc.handle);
  world.onSignal(() => world.exit(0));
}

function flagOf(args: readonly string[], name: string): string | undefined {
  const index = args.indexOf(name);
  return index < 0 ? undefined : args[index + 1];
}

const RPC_LIMITS = { timeoutMs: 10_000, bytesMax: 16 << 20 } as const;

const NODE_SYSTEM: System = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
  connect(address) {
    const path = /^unix:\/\/(.*)$/.exec(address)?.[1];
    if (path !== undefined) return connect(path);
    const { hostname, port } = new URL(address.replace(/^tcp:/, "http:"));
    return connect(Number(port), hostname);
  },
  callRpc(server, method, params) {
    const address = parseRpcAddress(server);
    if (address === undefined) return Promise.reject(new Error(`no address: ${server}`));
    return callEngine(address, { method, params }, RPC_LIMITS, fatalTimers);
  },
};
