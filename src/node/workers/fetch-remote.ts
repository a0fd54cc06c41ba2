import type { MessagePort } from "node:worker_threads";
import { fetchRemoteCalls } from "../../dev/fork/fetch-remote-calls.ts";
import type { RemoteCall } from "../../dev/fork/remote-calls.ts";
import { errorDataOf } from "../../rpc/ports/channel/error-data.ts";
import type { ErrorData } from "../../rpc/ports/channel/protocol.ts";
import { threadData } from "../../threads/native-calls.ts";

/** What the thread is started with. */
export type FetchRemoteData = {
  readonly urls: readonly string[];
  readonly port: MessagePort;
  /** 1 once the answer to the last message is in the port. */
  readonly signal: Int32Array;
};

export type FetchReply = { readonly results: readonly unknown[] } | { readonly error: ErrorData };

/** Calls to make, which are answered, or other nodes to ask from now on. */
export type FetchRequest = readonly RemoteCall[] | { readonly urls: readonly string[] };

const { urls, port, signal } = threadData<FetchRemoteData>();
const nodes = { urls };
const call = fetchRemoteCalls(nodes);

async function answer(calls: readonly RemoteCall[]): Promise<void> {
  let reply: FetchReply;
  try {
    reply = { results: await call(calls) };
  } catch (error) {
    reply = { error: errorDataOf(error) };
  }
  port.postMessage(reply);
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}

port.on("message", (request: FetchRequest) => {
  if ("urls" in request) nodes.urls = request.urls;
  else void answer(request);
});
port.postMessage("ready");
