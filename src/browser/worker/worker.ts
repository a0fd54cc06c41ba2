/** The dedicated worker that runs a node for its page. */
import { startLocalHost } from "../local-host.ts";
import type { NodeHost } from "../provider.ts";
import type { MessageTarget } from "../web.ts";
import { toCrossingError, type WorkerMessage, type WorkerRequest } from "./protocol.ts";

const page = globalThis as unknown as MessageTarget;
const post = (message: WorkerMessage) => page.postMessage(message);
let host: NodeHost | undefined;

page.onmessage = async ({ data }) => {
  const request = data as WorkerRequest;
  const { id } = request;
  try {
    post({ id, result: await run(request) });
  } catch (error) {
    post({ id, error: toCrossingError(error) });
  }
};

async function run(request: WorkerRequest): Promise<unknown> {
  if ("start" in request) {
    host = await startLocalHost(request.start, (message) => post({ message }));
    return host.accounts;
  }
  const call = host![request.call] as (...args: readonly unknown[]) => Promise<unknown>;
  return call(...request.args);
}
