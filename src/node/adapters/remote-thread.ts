import { once } from "node:events";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { ForkRemoteError } from "../../dev/fork/errors.ts";
import type { SyncRemoteCalls } from "../../dev/fork/remote-calls.ts";
import { errorFromData } from "../../rpc/ports/channel/error-data.ts";
import type { FetchRemoteData, FetchReply, FetchRequest } from "../workers/fetch-remote.ts";
import { startWorker } from "../workers/start-worker.ts";

/** Longer than all rounds of `fetchRemoteCalls` with an address that does not answer. */
const WAIT_MS_MAX = 120_000;

export type RemoteThread = {
  readonly call: SyncRemoteCalls;
  setUrls(urls: readonly string[]): void;
  close(): Promise<void>;
};

/** A thread that calls the remote chain while this one waits for the result. */
export async function startRemoteThread(urls: readonly string[]): Promise<RemoteThread> {
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const data: FetchRemoteData = { urls, port: port2, signal };
  const worker = startWorker("fetch-remote", { workerData: data, transferList: [port2] });
  await Promise.race([
    once(port1, "message"),
    once(worker, "error").then(([error]) => Promise.reject(error)),
  ]);
  // From here on messages are taken by `receiveMessageOnPort` alone.
  port1.unref();
  worker.unref();
  const send = (request: FetchRequest) => port1.postMessage(request);
  return {
    setUrls: (urls) => send({ urls }),
    call(calls) {
      Atomics.store(signal, 0, 0);
      send(calls);
      if (Atomics.wait(signal, 0, 0, WAIT_MS_MAX) === "timed-out") {
        throw new ForkRemoteError("the remote chain does not answer");
      }
      const reply = receiveMessageOnPort(port1)?.message as FetchReply;
      if ("error" in reply) throw errorFromData(reply.error);
      return reply.results;
    },
    async close() {
      port1.close();
      await worker.end();
    },
  };
}
