import { MessageChannel } from "node:worker_threads";
import { type Channel, channelOver, type MessageEnd } from "../../../src/base/threads/channel.ts";
import { PortClient, PortServer, type ServedPorts } from "../../../src/rpc/ports/port-channel.ts";
import { ChainUnreachableError } from "../../../src/rpc/transport/errors.ts";

/** `served` from the other side of a `MessageChannel`. */
export function connectPorts(
  served: ServedPorts,
  onListenerError = (error: unknown): void => {
    throw error;
  },
) {
  const { port1, port2 } = new MessageChannel();
  const here: Channel = channelOver(port1 as MessageEnd);
  const server = new PortServer(served, here);
  here.serve(server.handlers);
  const there: Channel = channelOver(port2 as MessageEnd);
  const { config, genesisHash, genesisTime, isControlled } = served.chain;
  const client = new PortClient(there, { config, genesisHash, genesisTime, isControlled }, onListenerError);
  there.serve(client.handlers);
  port2.on("close", () => there.close(() => new ChainUnreachableError()));
  return {
    ports: client.ports,
    close() {
      server.close();
      port1.close();
    },
  };
}
