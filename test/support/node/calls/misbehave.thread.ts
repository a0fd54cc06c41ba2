import type { Channel } from "../../../../src/base/threads/channel.ts";
import { errorDataOf } from "../../../../src/base/threads/plain-data.ts";
import { serveThread } from "../../../../src/base/threads/serve-thread.ts";
import type { ExecutionOutcome, ExecutionRequest } from "../../../../src/node/calls/following-execution.ts";
import { KvCorruptionError } from "../../../../src/store/storage/kv.ts";

const dropped: string[] = [];

/** What an execution thread for tests does: the first argument of a request says it. */
const BEHAVIOURS: Readonly<Record<string, (detail: unknown) => unknown>> = {
  echo: (detail) => detail,
  crash: () => process.exit(3),
  loop() {
    for (;;);
  },
  compile: (request) => starter.call("compile", request),
  dropped: () => dropped,
  "meet a damaged row": () => {
    throw new KvCorruptionError({ key: "01" });
  },
};

const starter: Channel<{ compile(request: unknown): unknown }> = serveThread<{
  compile(request: unknown): unknown;
}>({
  async execute({ input }: ExecutionRequest): Promise<ExecutionOutcome> {
    const { behaviour, detail } = input as { readonly behaviour: string; readonly detail: unknown };
    const epoch = detail instanceof Int32Array ? Atomics.load(detail, 0) : 0;
    try {
      return { epoch, ms: 1, value: await BEHAVIOURS[behaviour]!(detail) };
    } catch (error) {
      return { epoch, ms: 1, error: errorDataOf(error) };
    }
  },
  dropped: (key: string) => dropped.push(key),
})!;
