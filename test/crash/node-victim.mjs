/**
 * A node that kills itself at a step of its commit: `node node-victim.mjs HOME [STEP COUNT]` dies at the COUNT-th time STEP comes.
 * Plain JavaScript over the built node, so that it starts as fast as the real one. Prints its HTTP address once it answers.
 */
const [home, step, count] = process.argv.slice(2);
const { loadBundle } = await import(new URL("../../dist/bundle/load-bundle.js", import.meta.url));
const { loadConfig, startNode, SILENT_LOGGER } = loadBundle().exports;

let armed = false;
let left = Number(count);
function failPoint(name) {
  if (armed && name === step && --left === 0) process.kill(process.pid, "SIGKILL");
}

const flags = {
  "json-rpc.address": "127.0.0.1:0",
  "json-rpc.ws-address": "127.0.0.1:0",
  "json-rpc.processes": process.env.EVMINT_TEST_PROCESSES ?? "0",
};
const { config } = loadConfig({ home, dev: true, flags, environment: {} });
const node = await startNode(config, SILENT_LOGGER, { failPoint });
await node.processes?.ready();
armed = true;
process.once("SIGTERM", () => node.stop());
process.stdout.write(`${node.listeners.find(({ kind }) => kind === "http").url}\n`);
