import { after, describe } from "node:test";
import { MessageChannel } from "node:worker_threads";
import type { ChainView } from "../ports/chain-view.ts";
import { createChannelPorts } from "../ports/channel/channel-client.ts";
import { serveChannel } from "../ports/channel/channel-server.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import type { InspectionPort } from "../ports/inspection.ts";
import type { KeysPort } from "../ports/keys.ts";
import type { NodePort } from "../ports/node.ts";
import type { RuntimePort } from "../ports/runtime.ts";
import type { ToolsPort } from "../ports/tools.ts";
import { type CreateTestModules, createTestModules } from "./test-chain.ts";

/** The ports of test modules. */
export type TestPorts = {
  readonly chain: ChainView;
  readonly execution: ExecutionPort;
  readonly inspection: InspectionPort;
  readonly keys: Pick<KeysPort, "accounts" | "assertKnown" | "sign" | "signWithPassphrase">;
  readonly node: Pick<NodePort, "info">;
  readonly runtime: Partial<RuntimePort>;
  readonly tools: ToolsPort;
};

/** Puts something between a caller and the ports. */
export type ConnectPorts = (ports: TestPorts) => TestPorts;

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
