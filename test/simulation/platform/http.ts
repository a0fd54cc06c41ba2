/** `node:http`, as far as a node asks others: one request, one answer, over the network of the simulation or a socket of the machine. */
import { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import { currentProcess } from "../kernel/current.ts";
import type { HttpHandler } from "../kernel/machine.ts";

type Options = {
  readonly method?: string;
  readonly path?: string;
  readonly socketPath?: string;
  readonly signal?: AbortSignal;
};

class ClientRequest extends EventEmitter {
  readonly #process = currentProcess();
  readonly #address: string;
  readonly #options: Options;
  #isOver = false;

  constructor(address: string, options: Options) {
    super();
    this.#address = address;
    this.#options = options;
    options.signal?.addEventListener("abort", () => this.destroy(options.signal!.reason as Error));
  }

  end(body = ""): this {
    const { method = "GET", path = "/" } = this.#options;
    const from = this.#process.machine;
    const { network } = from.simulation;
    const request = { method, path, body: String(body) };
    network.callHttp({ from, address: this.#address, request }, (answer) => {
      if (!this.#process.isAlive) return;
      this.#process.after(0, () => this.#answered(answer));
    });
    return this;
  }

  destroy(error?: Error): this {
    if (this.#isOver) return this;
    this.#isOver = true;
    if (error) this.emit("error", error);
    return this;
  }

  setTimeout = () => this;

  #answered(answer: Awaited<ReturnType<HttpHandler>> | undefined): void {
    if (this.#isOver) return;
    if (answer === undefined)
      return void this.destroy(Object.assign(new Error("ECONNREFUSED"), { code: "ECONNREFUSED" }));
    const response = Object.assign(Readable.from([Buffer.from(answer.body)]), {
      statusCode: answer.status,
      headers: {},
    });
    response.once("end", () => {
      this.#isOver = true;
    });
    this.emit("response", response);
  }
}

export function request(target: URL | Options, options: Options | OnAnswer, onAnswer?: OnAnswer): ClientRequest {
  const listener = (onAnswer ?? options) as OnAnswer;
  const found = target instanceof URL ? { ...(options as Options), path: target.pathname } : target;
  const address = target instanceof URL ? target.host : target.socketPath!;
  const outgoing = new ClientRequest(address, found);
  outgoing.once("response", listener);
  return outgoing;
}

type OnAnswer = (response: Readable & { readonly statusCode: number }) => void;

/** Programs in a simulation are called below their listeners. */
export function createServer(): never {
  throw new Error("a simulated node has no listeners");
}

export class Server {}
export class IncomingMessage {}
export class ServerResponse {}
export class Agent {}
export const STATUS_CODES: Record<number, string> = {};
export const METHODS: string[] = [];
export const maxHeaderSize = 16_384;
export default { request, createServer };
