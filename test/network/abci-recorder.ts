import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { decodeReply, decodeRequest, FrameReader } from "../../src/consensus/cometbft/abci/frames.ts";
import type { CallName } from "../../src/consensus/cometbft/abci/messages.ts";
import { abciSocketPath } from "../../src/node/config/home.ts";
import type { TraceEvent, TraceLine } from "../simulation/traces/trace.ts";
import { connectEngineTo } from "./abci-proxy.ts";
import { joinSockets } from "./links.ts";
import type { NetworkNode } from "./network.ts";

/** A request whose reply is awaited. A line that may turn out to say nothing is written with its reply. */
type Awaited = { readonly call: CallName; readonly isLeftOut: boolean; readonly line: TraceLine };

/** Records what nodes and their CometBFT say to each other, unchanged. */
export class AbciRecorder {
  readonly lines: TraceLine[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #servers: ReturnType<typeof createServer>[] = [];
  #connections = 0;
  readonly #start = performance.now();

  /** To be called before the node is started. @param index of the node in the recording */
  async add(node: NetworkNode, index: number): Promise<void> {
    const server = createServer((near) => this.#connect(near, { index, target: abciSocketPath(node.home) }));
    const path = join(node.home, "recorder.sock");
    await new Promise<void>((resolve) => server.listen(path, resolve));
    this.#servers.push(server);
    connectEngineTo(path, node);
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(near: Socket, { index, target }: { readonly index: number; readonly target: string }): void {
    const far = createConnection(target);
    const connection = this.#connections++;
    const line = (kind: TraceEvent["kind"], bytes?: Uint8Array): TraceLine => {
      const at = Math.round((performance.now() - this.#start) * 1000) / 1000;
      return [
        at,
        index,
        connection,
        kind,
        ...(bytes ? ([Buffer.from(bytes).toString("base64")] as const) : ([] as const)),
      ];
    };
    const awaited: Awaited[] = [];
    const [requests, replies] = [new FrameReader(), new FrameReader()];
    let last: CallName | undefined;
    this.lines.push(line("open"));
    near.on("data", (chunk: Buffer) => {
      for (const body of requests.push(chunk)) {
        const { call } = decodeRequest(body);
        const isLeftOut = call === "flush" && last !== undefined && last !== "flush";
        last = call;
        const request = { call, isLeftOut, line: line("request", body) };
        awaited.push(request);
        if (!isLeftOut && call !== "reapTxs") this.lines.push(request.line);
      }
      far.write(chunk);
    });
    far.on("data", (chunk: Buffer) => {
      for (const body of replies.push(chunk)) {
        const { call, isLeftOut, line: request } = awaited.shift()!;
        const reply = decodeReply(body);
        const isEmptyReap = reply.call === "reapTxs" && reply.fields.txs.length === 0;
        if (isLeftOut || isEmptyReap) continue;
        if (call === "reapTxs") this.lines.push(request);
        this.lines.push(line("reply", body));
      }
      near.write(chunk);
    });
    joinSockets(near, far, this.#sockets);
    let isOpen = true;
    for (const socket of [near, far]) {
      socket.on("close", () => {
        if (isOpen) this.lines.push(line("close"));
        isOpen = false;
      });
    }
  }
}
