import { type InspectorNotification, type NodeTracing, Session } from "node:inspector";
import type { Writable } from "node:stream";
import { foldStalls, type StallProfile } from "./stall-profile.ts";

/** Events of Node that `debug_goTrace` records. */
const TRACE_CATEGORIES = ["node.async_hooks", "node.perf", "node.fs.async", "node.http", "v8"];

/** Something that is recorded until it is stopped. */
export type Recording = { stop(to: Writable): Promise<void> };

/** A connection to the inspector of this thread, whose calls are promises. */
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

/** Records a CPU profile: JSON of DevTools' `.cpuprofile`. */
export async function recordCpu(): Promise<Recording> {
  const { session, post } = openSession();
  await post("Profiler.enable");
  await post("Profiler.start");
  return {
    async stop(to) {
      const { profile } = await post<{ profile: object }>("Profiler.stop");
      session.disconnect();
      to.write(JSON.stringify(profile));
    },
  };
}

/** Records events of Node and V8: JSON of Chrome's trace event format. They are written when it stops. */
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
      const completed = new Promise((resolve) =>
        session.once("NodeTracing.tracingComplete", resolve),
      );
      // Node may never answer this call; the event is what tells that all data came.
      session.post("NodeTracing.stop");
      await completed;
      session.disconnect();
      to.write(`{"traceEvents":[${chunks.join(",\n")}]}`);
    },
  };
}

/** Records a CPU profile and folds it into the stalls of the event loop. */
export async function recordStalls(minimumNs: number): Promise<{ stop(): Promise<StallProfile> }> {
  const { session, post } = openSession();
  await post("Profiler.enable");
  await post("Profiler.start");
  return {
    async stop() {
      const { profile } = await post<{ profile: Parameters<typeof foldStalls>[0] }>(
        "Profiler.stop",
      );
      session.disconnect();
      return foldStalls(profile, minimumNs);
    },
  };
}
