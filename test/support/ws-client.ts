import type { WebSocket } from "ws";
import { openWs } from "./clients.ts";

type Message = {
  readonly id?: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly params?: { readonly subscription: string; readonly result: any };
};

/** A WebSocket client that keeps what it is told, by subscription. */
export class WsClient {
  readonly socket: WebSocket;
  readonly #answers = new Map<number, (message: Message) => void>();
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly #notices = new Map<string, any[]>();
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly #listeners = new Map<string, (result: any) => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.#take(JSON.parse(data.toString()) as Message));
    socket.on("error", () => {});
  }

  static async open(url: string): Promise<WsClient> {
    return new WsClient(await openWs(url));
  }

  /** The result of one call. @throws Error with the error object's message */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  call(method: string, ...params: unknown[]): Promise<any> {
    const id = this.#nextId++;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve, reject) => {
      this.#answers.set(id, ({ error, result }) => (error ? reject(new Error(error.message)) : resolve(result)));
    });
  }

  subscribe(...params: unknown[]): Promise<string> {
    return this.call("eth_subscribe", ...params);
  }

  /** What a subscription has told so far. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  told(subscription: string): any[] {
    return this.#notices.get(subscription) ?? [];
  }

  /** Resolves once a subscription has told `count` things, with all that it told. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  untilTold(subscription: string, count: number): Promise<any[]> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.told(subscription).length < count) return;
        this.socket.off("message", look).off("close", fail);
        resolve(this.told(subscription));
      };
      const fail = () => reject(new Error(`closed after ${this.told(subscription).length} of ${count} notices`));
      this.socket.on("message", look).once("close", fail);
      look();
    });
  }

  /** Calls `listener` the moment a notice comes. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  on(subscription: string, listener: (result: any) => void): void {
    this.#listeners.set(subscription, listener);
  }

  close(): void {
    this.socket.terminate();
  }

  #take({ id, params, ...rest }: Message): void {
    if (params === undefined) {
      this.#answers.get(id!)?.(rest);
      this.#answers.delete(id!);
      return;
    }
    const { subscription, result } = params;
    this.#notices.set(subscription, [...this.told(subscription), result]);
    this.#listeners.get(subscription)?.(result);
  }
}
