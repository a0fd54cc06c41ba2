import { planReadsOf } from "../../dev/fork/choose-fork-point.ts";
import { fetchRemoteCalls } from "../../dev/fork/fetch-remote-calls.ts";
import { errorDataOf } from "../../rpc/ports/channel/error-data.ts";
import { threadData } from "../../threads/native-calls.ts";
import {
  BEAT_MS,
  FETCH_SIGNAL,
  type FetchRemoteData,
  type FetchReply,
  type FetchRequest,
} from "./fetch-remote-protocol.ts";

const { urls, block, isVerified, port, signal } = threadData<FetchRemoteData>();
const nodes = { urls, planReads: planReadsOf(block, isVerified) };
const call = fetchRemoteCalls(nodes);

function advance(index: number): void {
  Atomics.add(signal, index, 1);
  Atomics.notify(signal, index);
}

async function answer({ id, calls, msMax }: Extract<FetchRequest, { id: number }>): Promise<void> {
  let reply: FetchReply;
  try {
    reply = { id, results: await call(calls, { msMax }) };
  } catch (error) {
    reply = { id, error: errorDataOf(error) };
  }
  port.postMessage(reply);
  advance(FETCH_SIGNAL.replies);
}

port.on("message", (request: FetchRequest) => {
  if ("urls" in request) nodes.urls = request.urls;
  else void answer(request);
});
setInterval(() => advance(FETCH_SIGNAL.beats), BEAT_MS).unref();
