import { type InspectorNotification, type NodeTracing, type Profiler, type Runtime, Session } from "node:inspector";
import type { Writable } from "node:stream";

/** Stacks, root first, that blocked the event loop: how often, and for how long in total. */
type StallProfile = ReadonlyMap<string, Stall>;
type Stall = {
  readonly frames: readonly Runtime.CallFrame[];
  readonly count: number;
  readonly microseconds: number;
};

/** Stacks stored; later ones are dropped. */
const STACKS_MAX = 10_000;

/**
 * The intervals of `profile` in which JavaScript ran for at least `minimumNs` without a pause, while everything else waited. Each is charged to
 * the stack that took most of it.
 */
export function foldStalls(profile: Profiler.Profile, minimumNs: number): StallProfile {
  const { samples = [], timeDeltas = [] } = profile;
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const isIdle = (id: number) => ["(idle)", "(program)"].includes(byId.get(id)?.callFrame.functionName ?? "(idle)");
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id);
  const stalls = new Map<string, Stall>();
  let stretch = new Map<number, number>();
  const close = () => {
    const entries = [...stretch].sort(([, a], [, b]) => b - a);
    const total = entries.reduce((sum, [, time]) => sum + time, 0);
    stretch = new Map();
    if (entries.length === 0 || total * 1000 < minimumNs) return;
    addStall(stalls, framesOf(entries[0]![0], byId, parents), 1, total);
  };
  for (const [index, id] of samples.entries()) {
    if (isIdle(id)) close();
    else stretch.set(id, (stretch.get(id) ?? 0) + Math.max(0, timeDeltas[index + 1] ?? 0));
  }
  close();
  return stalls;
}

export function mergeStalls(into: Map<string, Stall>, from: StallProfile): void {
  for (const { frames, count, microseconds } of from.values()) {
    addStall(into, frames, count, microseconds);
  }
}

/** A CPU profile of DevTools with one sample per stack, as long as all its stalls. */
export function stallCpuProfile(stalls: StallProfile): Profiler.Profile {
  const callFrame = { functionName: "(root)", scriptId: "0", url: "", lineNumber: -1, columnNumber: -1 };
  const nodes = [{ id: 1, callFrame: callFrame as Runtime.CallFrame, children: [] as number[], hitCount: 0 }];
  const samples: number[] = [];
  const timeDeltas: number[] = [];
  let endTime = 0;
  for (const { frames, count, microseconds } of stalls.values()) {
    let parent = nodes[0]!;
    for (const callFrame of frames) {
      const node = { id: nodes.length + 1, callFrame, children: [], hitCount: 0 };
      nodes.push(node);
      parent.children.push(node.id);
      parent = node;
    }
    parent.hitCount += count;
    samples.push(parent.id);
    timeDeltas.push(microseconds);
    endTime += microseconds;
  }
  return { nodes, startTime: 0, endTime, samples, timeDeltas };
}

function addStall(stalls: Map<string, Stall>, frames: Stall["frames"], count: number, microseconds: number): void {
  const key = frames.map((frame) => `${frame.url}:${frame.lineNumber}:${frame.functionName}`).join("\n");
  const known = stalls.get(key);
  if (known === undefined && stalls.size >= STACKS_MAX) return;
  stalls.set(key, {
    frames,
    count: (known?.count ?? 0) + count,
    microseconds: (known?.microseconds ?? 0) + microseconds,
  });
}

/** Root first, without V8's own root. */
function framesOf(
  leaf: number,
  byId: ReadonlyMap<number, Profiler.ProfileNode>,
  parents: ReadonlyMap<number, number>,
): Stall["frames"] {
  const frames: Runtime.CallFrame[] = [];
  for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
    const node = byId.get(id);
    if (node && node.callFrame.functionName !== "(root)") frames.unshift(node.callFrame);
  }
  return frames;
}

/** Events of Node that `debug_goTrace` records. */
const TRACE_CATEGORIES = ["node.async_hooks", "node.perf", "node.fs.async", "node.http", "v8"];

/** A recording that runs until it is stopped. */
export type Recording = { stop(to: Writable): Promise<void> };

/** A promise-based connection to this thread's inspector. */
function openSession() {
  const session = new Session();
  session.connect();
  return {
    session,
    post: <T = unknown>(method: string, params: object = {}) =>
      new Promise<T>((resolve, reject) => {
        session.post(method, params, (error, result) => {
          if (error) reject(error);
          else resolve(result as T);
        });
      }),
  };
}

async function recordProfile(): Promise<{ stop(): Promise<Profiler.Profile> }> {
  const { session, post } = openSession();
  await post("Profiler.enable");
  await post("Profiler.start");
  return {
    async stop() {
      const { profile } = await post<{ profile: Profiler.Profile }>("Profiler.stop");
      session.disconnect();
      return profile;
    },
  };
}

/** Records a CPU profile: JSON of DevTools' `.cpuprofile`. */
export async function recordCpu(): Promise<Recording> {
  const recording = await recordProfile();
  return { stop: async (to) => void to.write(JSON.stringify(await recording.stop())) };
}

/** Records events of Node and V8 as JSON of Chrome's trace event format; written on stop. */
export async function recordTrace(): Promise<Recording> {
  const { session, post } = openSession();
  const chunks: string[] = [];
  session.on(
    "NodeTracing.dataCollected",
    ({ params }: InspectorNotification<NodeTracing.DataCollectedEventDataType>) => {
      for (const event of params.value) chunks.push(JSON.stringify(event));
    },
  );
  await post("NodeTracing.start", { traceConfig: { includedCategories: TRACE_CATEGORIES } });
  return {
    async stop(to) {
      const completed = new Promise((resolve) => session.once("NodeTracing.tracingComplete", resolve));
      // Node may never answer this call; the event signals that all data has arrived.
      session.post("NodeTracing.stop");
      await completed;
      session.disconnect();
      to.write(`{"traceEvents":[${chunks.join(",\n")}]}`);
    },
  };
}

/** Records a CPU profile and folds it into the stalls of the event loop. */
export async function recordStalls(minimumNs: number): Promise<{ stop(): Promise<StallProfile> }> {
  const recording = await recordProfile();
  return { stop: async () => foldStalls(await recording.stop(), minimumNs) };
}
