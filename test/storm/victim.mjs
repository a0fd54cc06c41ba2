/**
 * A node that kills itself with SIGKILL at a named step: `node victim.mjs OPTIONS`, where OPTIONS is JSON of `VictimOptions`
 * (node-process.ts), with the environment and the limits of its configuration.
 * Plain JavaScript over the built node, so that it starts as fast as `evmintd start` does. It prints one line of JSON once it answers, and takes
 * lines on standard input: `STEP COUNT` arms the step, of which it dies at the COUNT-th time.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { home, dev, flags, environment, limits, hooks, armed, logFile } = JSON.parse(process.argv[2]);
const { loadBundle } = await import(new URL("../../dist/bundle/load-bundle.js", import.meta.url));
const { loadConfig, startNode } = loadBundle().exports;

let deadlyStep = armed?.step;
let hitsLeft = armed?.hits ?? 0;
function failPoint(name) {
  if (name === deadlyStep && --hitsLeft <= 0) process.kill(process.pid, "SIGKILL");
}

/** Writes what an operator may have to act on, at once: the process can die after any line. */
function loggerOf(module) {
  const writer = (level) => (message, data) => {
    const shown = (_, value) =>
      value instanceof Error ? `${value.stack}` : typeof value === "bigint" ? `${value}` : value;
    appendFileSync(logFile, `${JSON.stringify({ time: Date.now(), level, module, message, ...data }, shown)}\n`);
  };
  return {
    error: writer("error"),
    warn: writer("warn"),
    info: writer("info"),
    debug() {},
    trace() {},
    enabled: (level) => level === "error" || level === "warn" || level === "info",
    child: (name) => loggerOf(`${module}/${name}`),
  };
}

const { config } = loadConfig({ home, dev, flags, environment, limits });
const node = await startNode(config, loggerOf(""), { ...hooks, failPoint });
const urlOf = (kind) => node.listeners.find((listener) => listener.kind === kind)?.url;
process.stdout.write(
  `${JSON.stringify({ http: urlOf("http"), ws: urlOf("ws"), ipc: urlOf("ipc"), metrics: urlOf("metrics") })}\n`,
);
process.once("SIGTERM", () => void node.stop().then(() => process.exit(0)));
const commands = createInterface({ input: process.stdin });
commands.on("line", (line) => {
  const [step, hits] = line.split(" ");
  deadlyStep = step;
  hitsLeft = Number(hits);
});
// Nobody would end it after the storm.
commands.on("close", () => process.exit(1));
