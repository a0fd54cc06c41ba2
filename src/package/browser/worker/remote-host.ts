import { Channel, type ChannelMessage } from "../../../base/threads/channel.ts";
import type { ProviderMessage } from "../../../node/adapters/provider-types.ts";
import type { HostOptions, NodeHost } from "../provider.ts";
import { UnsupportedInBrowserError } from "../unsupported.ts";
import { web } from "../web.ts";
import { type PageHandlers, PROVIDER_ERRORS, type WorkerHandlers } from "./protocol.ts";

/** The worker ended, because of a fault or because the node was stopped. */
export class WorkerLostError extends Error {}

/** Starts a node in a dedicated worker. @throws UnsupportedInBrowserError, and errors of the start */
export async function startRemoteHost(
  options: HostOptions,
  onMessage: (message: ProviderMessage) => void,
): Promise<NodeHost> {
  if (web.Worker === undefined) throw new UnsupportedInBrowserError("a worker");
  // Bundlers recognise this form and build the file.
  const worker = new web.Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const channel = new Channel<WorkerHandlers>((message) => worker.postMessage(message), PROVIDER_ERRORS);
  channel.serve({ message: onMessage } satisfies PageHandlers);

  function end(reason: string): void {
    worker.terminate();
    channel.close(() => new WorkerLostError(reason));
  }

  worker.onmessage = ({ data }) => channel.receive(data as ChannelMessage);
  worker.onerror = ({ message }) => end(message);
  try {
    const accounts = await channel.call("start", options);
    return {
      accounts,
      request: (request) => channel.call("request", request),
      produceBlock: () => channel.call("produceBlock", undefined),
      exportHome: () => channel.call("exportHome", undefined),
      takeFile: (name) => channel.call("takeFile", name),
      putFile: (name, content) => channel.call("putFile", { name, content }),
      removeFile: (name) => channel.call("removeFile", name),
      async stop() {
        await channel.call("stop", undefined);
        end("the node is stopped");
      },
    };
  } catch (error) {
    end("the node did not start");
    throw error;
  }
}
