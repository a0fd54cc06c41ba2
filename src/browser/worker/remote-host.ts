import type { DevAccount } from "../../keystore/dev-accounts.ts";
import type { HostOptions, NodeHost, ProviderMessage } from "../provider.ts";
import { UnsupportedInBrowserError, web } from "../web.ts";
import {
  fromCrossingError,
  type HostCall,
  type WorkerMessage,
  type WorkerRequest,
} from "./protocol.ts";

/** The worker ended, by a fault of its own or because the node was stopped. */
class WorkerLostError extends Error {}

type Waiting = {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
};

/** Starts a node in a dedicated worker. @throws UnsupportedInBrowserError, and what the start throws */
export async function startRemoteHost(
  options: HostOptions,
  onMessage: (message: ProviderMessage) => void,
): Promise<NodeHost> {
  if (web.Worker === undefined) throw new UnsupportedInBrowserError("a worker");
  // Bundlers recognise this form and build the file.
  const worker = new web.Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;

  function post<Result>(request: Omit<WorkerRequest, "id">): Promise<Result> {
    return new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject });
      worker.postMessage({ ...request, id: lastId });
    });
  }

  function end(reason: string): void {
    worker.terminate();
    for (const { reject } of waiting.values()) reject(new WorkerLostError(reason));
    waiting.clear();
  }

  worker.onmessage = ({ data }) => {
    const message = data as WorkerMessage;
    if ("message" in message) return onMessage(message.message);
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if ("error" in message) call?.reject(fromCrossingError(message.error));
    else call?.resolve(message.result as never);
  };
  worker.onerror = ({ message }) => end(message);

  const call =
    <Name extends HostCall>(name: Name) =>
    (...args: Parameters<NodeHost[Name]>) =>
      post({ call: name, args }) as ReturnType<NodeHost[Name]>;
  try {
    const accounts = await post<readonly DevAccount[]>({ start: options });
    return {
      accounts,
      request: call("request"),
      produceBlock: call("produceBlock"),
      exportHome: call("exportHome"),
      takeFile: call("takeFile"),
      putFile: call("putFile"),
      removeFile: call("removeFile"),
      async stop() {
        await call("stop")();
        end("the node is stopped");
      },
    };
  } catch (error) {
    end("the node did not start");
    throw error;
  }
}
