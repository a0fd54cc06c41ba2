// Loaded into a node with `--import`: tells over the channel of its parent what one request cost the thread it began with.
import { closeSync, openSync, readSync } from "node:fs";
import { Session } from "node:inspector";

/** Of the thread that runs this; Linux alone has it. The first figure is nanoseconds on a processor. */
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
const statm = openSync("/proc/self/statm", "r");
const buffer = Buffer.alloc(96);
const PAGE_BYTES = 4096;
/** A turn with less was idle. */
const IDLE_MS = 0.03;

const firstNumbers = (file) => buffer.latin1Slice(0, readSync(file, buffer, 0, buffer.length, 0)).split(" ");
const cpuMs = () => Number(firstNumbers(schedstat)[0]) / 1e6;
const residentBytes = () => Number(firstNumbers(statm)[1]) * PAGE_BYTES;

let measured;

/** One turn of the event loop lies between two calls. */
function turn() {
  if (measured === undefined) return;
  const now = cpuMs();
  const spent = now - measured.last;
  measured.last = now;
  if (spent > IDLE_MS) measured.cpuMs += spent;
  if (spent > measured.longestMs) measured.longestMs = spent;
  if (spent > 1) measured.residentBytes = Math.max(measured.residentBytes, residentBytes());
  setImmediate(turn);
}

let session;
const post = (method, params) =>
  new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result))),
  );

/** Calls of functions, and turns of the blocks in them, since the last time. */
async function takeCounts() {
  const { result } = await post("Profiler.takePreciseCoverage");
  let counts = 0;
  for (const { functions } of result) {
    for (const { ranges } of functions) for (const { count } of ranges) counts += count;
  }
  return counts;
}

const COMMANDS = {
  begin() {
    globalThis.gc?.();
    measured = { last: cpuMs(), cpuMs: 0, longestMs: 0, residentBytes: residentBytes() };
    measured.residentBefore = measured.residentBytes;
    setImmediate(turn);
  },
  end() {
    const { cpuMs: cpu, longestMs, residentBytes: peak, residentBefore } = measured;
    measured = undefined;
    return { cpuMs: cpu, longestMs, grownBytes: peak - residentBefore };
  },
  async profile() {
    session ??= new Session();
    session.connect();
    await post("Profiler.enable");
    await post("Profiler.setSamplingInterval", { interval: 200 });
    await post("Profiler.start");
  },
  async profiled() {
    const { profile } = await post("Profiler.stop");
    session.disconnect();
    session = undefined;
    const self = new Map();
    const byId = new Map(profile.nodes.map((n) => [n.id, n]));
    profile.samples.forEach((id, i) => {
      const n = byId.get(id).callFrame;
      const k = `${n.functionName}:${n.url.split("/").pop()}:${n.lineNumber}`;
      self.set(k, (self.get(k) ?? 0) + profile.timeDeltas[i] / 1000);
    });
    return [...self]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 14)
      .map(([k, v]) => `   ${v.toFixed(1)} ${k}`)
      .join("\n");
  },
  async count() {
    if (session === undefined) {
      session = new Session();
      session.connect();
      await post("Profiler.enable");
      await post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    }
    return takeCounts();
  },
};

process.on("message", async ({ command }) => process.send({ value: await COMMANDS[command]() }));
process.channel.unref();
// The audit was killed.
process.once("disconnect", () => process.exit());
process.once("exit", () => closeSync(schedstat));
