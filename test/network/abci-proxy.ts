import { chmodSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import {
  decodeReply,
  decodeRequest,
  FrameReader,
  replyFrame,
  requestFrame,
} from "../../src/consensus/cometbft/abci/frames.ts";
import type { CallName } from "../../src/consensus/cometbft/abci/messages.ts";
import { abciSocketPath } from "../../src/node/config/home.ts";
import { joinSockets } from "./links.ts";
import type { NetworkNode } from "./network.ts";

/** Changes the elements of a proposal. */
export type EditProposal = (txs: readonly Uint8Array[]) => readonly Uint8Array[];

const ACCEPT = 1;
/** Enough for the votes of four validators and two transactions. */
const RECORDED_BYTES_MAX = 1_000;

/** Makes the CometBFT of `node` dial the socket at `path` instead of the node's. */
export function connectEngineTo(path: string, node: NetworkNode): void {
  const program = join(node.home, "cometbft.sh");
  writeFileSync(program, `#!/bin/sh\nexec cometbft "$@" --proxy_app "unix://${path}"\n`);
  chmodSync(program, 0o755);
  node.flags.push("--cometbft.binary", program);
}

/**
 * Stands between a node and its CometBFT and makes a dishonest validator of them: it edits what the node proposes, and accepts every proposal.
 * To be made before the node is started.
 */
export class AbciProxy {
  /** undefined: proposes honestly. */
  edit: EditProposal | undefined;
  /** Proposals that were edited. */
  edited = 0;
  /** The longest request of each call within `RECORDED_BYTES_MAX`, in hexadecimal digits without the length of its frame. */
  readonly requests: Partial<Record<CallName, string>> = {};
  /** Calls with a request that our codec writes with other bytes. */
  readonly different = new Set<CallName>();
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => this.#connect(near));
  readonly #target: string;

  private constructor(target: string) {
    this.#target = target;
  }

  static async open(node: NetworkNode): Promise<AbciProxy> {
    const proxy = new AbciProxy(abciSocketPath(node.home));
    const path = join(node.home, "proxy.sock");
    await new Promise<void>((resolve) => proxy.#server.listen(path, resolve));
    connectEngineTo(path, node);
    return proxy;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(near: Socket): void {
    const far = createConnection(this.#target);
    const calls: CallName[] = [];
    const [requests, replies] = [new FrameReader(), new FrameReader()];
    near.on("data", (chunk: Buffer) => {
      for (const body of requests.push(chunk)) calls.push(this.#request(body));
      far.write(chunk);
    });
    far.on("data", (chunk: Buffer) => {
      for (const body of replies.push(chunk)) near.write(this.#reply(calls.shift()!, body));
    });
    joinSockets(near, far, this.#sockets);
  }

  #request(body: Uint8Array): CallName {
    const { call, fields } = decodeRequest(body);
    const [again] = new FrameReader().push(requestFrame(call, fields as never));
    if (Buffer.compare(again!, body) !== 0) this.different.add(call);
    const isLonger = body.length * 2 > (this.requests[call]?.length ?? 0);
    if (isLonger && body.length <= RECORDED_BYTES_MAX) {
      this.requests[call] = Buffer.from(body).toString("hex");
    }
    return call;
  }

  #reply(call: CallName, body: Uint8Array): Uint8Array {
    const reply = decodeReply(body);
    if (reply.call === "exception") throw new Error(reply.fields.error);
    if (this.edit && reply.call === "prepareProposal") {
      this.edited++;
      return replyFrame("prepareProposal", { txs: [...this.edit(reply.fields.txs)] });
    }
    if (reply.call === "processProposal") return replyFrame("processProposal", { status: ACCEPT });
    return replyFrame(call, reply.fields);
  }
}
