import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { freePort } from "../../test/support/free-port.ts";
import { until } from "../../test/support/until.ts";

const ENTRY = fileURLToPath(new URL("../../bin/evmintd.js", import.meta.url));
const PROBE = new URL("probe.mjs", import.meta.url).href;
/** A request that has not ended by then counts as one that never does. */
const REQUEST_MS = 120_000;

/** What one request cost the node. */
export type Cost = {
  /** CPU milliseconds of the longest turn of the chain's thread. */
  readonly longestMs: number;
  /** CPU milliseconds of the chain's thread. */
  readonly cpuMs: number;
  /** Growth of resident memory while it ran. */
  readonly grownBytes: number;
  readonly answerBytes: number;
  /** First characters of the answer. */
  readonly answer: string;
};

/** What a caller sends: a body for JSON-RPC, the path of another route, or messages of one WebSocket. */
export type Attack =
  | { readonly path: string; readonly body?: string }
  | { readonly messages: readonly (string | Uint8Array)[] };

/** A process that was started with the probe. */
export type Probed = {
  readonly child: ChildProcess;
  /** What `act` costs its main thread. */
  cost(act: () => Promise<{ readonly bytes: number; readonly text: string }>): Promise<Cost>;
  /** Calls of functions and turns of loops since the last call of this, or for the first `act` alone; the process is slower from then on. */
  countedWork(act: () => Promise<unknown>): Promise<number>;
  end(): Promise<void>;
};

/** @param args of Node.js, the program's first */
export function startProbed(args: readonly string[]): Probed {
  const child = spawn(process.execPath, ["--expose-gc", "--import", PROBE, ...args], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  let isCounting = false;

  /** One command at a time. */
  async function probe<T>(command: "begin" | "end" | "count"): Promise<T> {
    const answer = once(child, "message");
    child.send({ command });
    const [{ value }] = (await Promise.race([
      answer,
      exited.then(() => Promise.reject(new Error("the node ended"))),
    ])) as [{ value: T }];
    return value;
  }

  return {
    child,
    async cost(act) {
      await probe("begin");
      const { bytes, text } = await act();
      const measured = await probe<Pick<Cost, "longestMs" | "cpuMs" | "grownBytes">>("end");
      return { ...measured, answerBytes: bytes, answer: text.slice(0, 200) };
    },
    async countedWork(act) {
      if (!isCounting) await probe("count");
      isCounting = true;
      await act();
      return probe<number>("count");
    },
    async end() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** A node in a process of its own that tells what each request cost it. */
export type NodeUnderAudit = {
  readonly port: number;
  readonly child: ChildProcess;
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  cost(attack: Attack): Promise<Cost>;
  countedWork(attack: Attack): Promise<number>;
  stop(): Promise<void>;
};

export async function startNodeUnderAudit(args: readonly string[] = []): Promise<NodeUnderAudit> {
  const home = mkdtempSync(join(tmpdir(), "evmint-cost-"));
  const [port, wsPort] = [await freePort(), await freePort()];
  const settings = {
    home,
    "json-rpc.address": `127.0.0.1:${port}`,
    "json-rpc.ws-address": `127.0.0.1:${wsPort}`,
    "json-rpc.api": "all",
    "log.level": "silent",
    // Its lines for people are of dev chains alone.
    "log.format": "json",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const probed = startProbed([ENTRY, "start", "--dev", ...flags, ...args]);

  async function call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const { text } = await send(port, { path: "/", body }, Number.POSITIVE_INFINITY);
    const { result, error } = JSON.parse(text);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  await until(() => {
    if (probed.child.exitCode !== null) throw new Error(`the node ended with ${probed.child.exitCode}`);
    return call("eth_chainId").then(
      () => true,
      () => false,
    );
  }, "the first answer of the node");
  const act = (attack: Attack) => () =>
    "messages" in attack ? sendMessages(wsPort, attack.messages) : send(port, attack);
  return {
    port,
    child: probed.child,
    call,
    cost: (attack) => probed.cost(act(attack)),
    countedWork: (attack) => probed.countedWork(act(attack)),
    async stop() {
      await probed.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const LAST_CALL = { jsonrpc: "2.0", id: "last", method: "web3_clientVersion", params: [] };

/** Ends with the answer to a call after the messages, or with the connection. */
async function sendMessages(port: number, messages: readonly (string | Uint8Array)[]) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await once(ws, "open");
  let bytes = 0;
  let text = "";
  await new Promise<void>((resolve) => {
    ws.on("message", (data: Buffer) => {
      bytes += data.length;
      if (data.length < 300 && data.includes('"last"')) resolve();
      else if (text === "") text = data.toString("utf8");
    });
    ws.once("close", () => resolve());
    ws.once("error", () => resolve());
    for (const message of messages) ws.send(message);
    ws.send(JSON.stringify(LAST_CALL));
  });
  ws.terminate();
  return { bytes, text };
}

/** @param keptCharsMax of the answer; the rest is counted */
function send(
  port: number,
  { path, body }: { readonly path: string; readonly body?: string },
  keptCharsMax = 200,
): Promise<{ bytes: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        path,
        method: body === undefined ? "GET" : "POST",
        headers: {
          "content-type": "application/json",
          ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        },
        agent: false,
        signal: AbortSignal.timeout(REQUEST_MS),
      },
      (response) => {
        let bytes = 0;
        let text = "";
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (text.length < keptCharsMax) text += chunk.toString("utf8");
        });
        response.once("end", () => resolve({ bytes, text }));
        response.once("error", reject);
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}
