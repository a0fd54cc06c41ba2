/** The dedicated worker that runs a node for its page. */
import { Channel, type ChannelMessage } from "../../../base/threads/channel.ts";
import { startLocalHost } from "../local-host.ts";
import type { NodeHost } from "../provider.ts";
import type { MessageTarget } from "../web.ts";
import { type PageHandlers, PROVIDER_ERRORS, type WorkerHandlers } from "./protocol.ts";

const page = globalThis as unknown as MessageTarget;
const channel = new Channel<PageHandlers>((message) => page.postMessage(message), PROVIDER_ERRORS);

const start: WorkerHandlers["start"] = async (options) => {
  const host = await startLocalHost(options, (message) => channel.emit("message", message));
  channel.serve(handlersOf(host));
  return host.accounts;
};
channel.serve({ start });
page.onmessage = ({ data }) => channel.receive(data as ChannelMessage);

function handlersOf(host: NodeHost): Omit<WorkerHandlers, "start"> {
  return {
    request: (request) => host.request(request),
    produceBlock: () => host.produceBlock(),
    exportHome: () => host.exportHome(),
    takeFile: (name) => host.takeFile(name),
    putFile: ({ name, content }) => host.putFile(name, content),
    removeFile: (name) => host.removeFile(name),
    stop: () => host.stop(),
  };
}
