/**
 * A node in a process of its own that opens an index of any size before its check: `node victim.mjs OPTIONS`, where OPTIONS is JSON of `NodeLife.start`. It
 * prints its URL, ends by itself where the node cannot go on, and with its standard input. With `writes` the medium changes the index once it is open, and
 * the check in the background begins once there is a file `gate`.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const { home, dev = false, flags, writes, gate } = JSON.parse(process.argv[2]);

/** The check opens the file after LMDB did, and before it reads its first page. */
if (writes !== undefined) {
  const { openSync } = fs;
  let isDone = false;
  fs.openSync = (path, mode, ...rest) => {
    if (!isDone && mode === "r" && String(path).endsWith("/index/data.mdb")) {
      isDone = true;
      const file = openSync(path, "r+");
      for (const { at, hex } of writes) fs.writeSync(file, Buffer.from(hex, "hex"), 0, hex.length / 2, at);
      fs.closeSync(file);
    }
    return openSync(path, mode, ...rest);
  };
  syncBuiltinESMExports();
}

if (gate !== undefined) {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file, options) {
      const isCheck = options.argv?.[0] === "store/storage/lmdb/check-file.thread";
      const waiting = ["--import", new URL("wait-for-gate.mjs", import.meta.url).href];
      super(file, isCheck ? { ...options, execArgv: waiting, env: { ...process.env, TEST_GATE: gate } } : options);
    }
  };
  syncBuiltinESMExports();
}

const { loadBundle } = await import(new URL("../../../dist/bundle/load-bundle.js", import.meta.url));
const { loadConfig, startNode } = loadBundle().exports;

const silent = () => {};
const logger = {
  error: (message, data) => console.error(message, data?.error?.message ?? ""),
  warn: (message, data) => console.error(message, data ?? ""),
  info: silent,
  debug: silent,
  trace: silent,
  enabled: () => false,
  child: () => logger,
};

const { config } = loadConfig({ home, dev, flags, environment: {} });
const node = await startNode(config, logger, { checkedFirstBytesMax: 0 });
const stop = (code) => void node.stop().then(() => process.exit(code));
process.stdout.write(`${node.listeners.find(({ kind }) => kind === "http").url}\n`);
void node.failure.then(() => stop(1));
process.once("SIGTERM", () => stop(0));
process.stdin.on("end", () => process.exit(1)).resume();
