import { after, describe } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { createChannelPorts } from "../ports/channel/channel-client.ts";
import { serveChannel } from "../ports/channel/channel-server.ts";
import { type CreateTestModules, createTestModules } from "./test-chain.ts";
import type { TestPorts } from "./test-ports.ts";

/** Runs the tests that `define` declares twice: with the ports called directly, and through a structured clone of every message. */
export function overBothTransports(define: (createTestModules: CreateTestModules) => void): void {
  describe("direct", () => define((replace) => createTestModules(replace)));
  describe("over a MessageChannel", () => {
    const channels = testChannels();
    after(() => channels.close());
    define((replace) => createTestModules(replace, channels.connect));
  });
}

function testChannels() {
  const open: { close(): void }[] = [];
  return {
    connect(ports: TestPorts): TestPorts {
      const { port1, port2 } = new MessageChannel();
      open.push(serveChannel(port1, ports));
      const { config, genesisHash } = ports.chain;
      return createChannelPorts(
        port2,
        { config, genesisHash },
        {
          onListenerError(error) {
            throw error;
          },
        },
      );
    },
    close() {
      for (const channel of open) channel.close();
    },
  };
}
