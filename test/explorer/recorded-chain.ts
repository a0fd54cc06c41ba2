import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CommitAnswer,
  lightBlockOf,
  type ValidatorsAnswer,
} from "../../src/consensus/cometbft/rpc/light-block.ts";
import type { Json } from "../../src/web/explorer/verify/verdict.ts";

/** What a node and its CometBFT v0.40.0 answered in a network of four validators. */
type Recorded = {
  readonly status: Json;
  /** By height. In the one of height 10 a validator voted nil. */
  readonly commit: Readonly<Record<string, CommitAnswer>>;
  readonly validators: Readonly<Record<string, ValidatorsAnswer>>;
  /** By number: the blocks that the headers commit to. */
  readonly blocks: Readonly<Record<string, Json>>;
};

export const RECORDED = JSON.parse(
  readFileSync(new URL("../support/consensus/cometbft/recorded-light-blocks.json", import.meta.url), "utf8"),
) as Recorded;

type Close = { close(): Promise<void> };
export type AnsweringServer = Close & { readonly url: string };
export type AnsweringSocket = Close & { readonly path: string };

type Answer = (method: string, params: never) => unknown;

async function startAnsweringUrl(answer: Answer): Promise<AnsweringServer> {
  const { server, close } = await startAnswering(answer, 0);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** JSON-RPC over HTTP, answered by `answer`. @param address a port of loopback, or the path of a unix socket */
async function startAnswering(answer: Answer, address: number | string) {
  const one = ({ id, method, params }: Json) => {
    try {
      return { jsonrpc: "2.0", id, result: answer(method as string, params as never) };
    } catch (error) {
      const { message } = error as Error;
      return { jsonrpc: "2.0", id, error: { code: -32603, message, data: message } };
    }
  };
  async function bodyOf(request: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Json | Json[];
    return JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked));
  }
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => response.end(body));
  });
  if (typeof address === "number") server.listen(address, "127.0.0.1");
  else server.listen(address);
  await once(server, "listening");
  return {
    server,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** CometBFT's RPC with the recorded heights. @param pageSize validators on a page at most */
export async function startRecordedCometBft(pageSize = 100): Promise<AnsweringSocket> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-recorded-"));
  const path = join(folder, "rpc.sock");
  const answer = (method: string, params: Readonly<Record<string, string>>) => {
    if (method === "status") return RECORDED.status;
    const { height, page, per_page } = params as Record<"height" | "page" | "per_page", string>;
    const result = RECORDED[method as "commit" | "validators"][height];
    if (result === undefined) throw new Error(`height ${height} is not available`);
    if (method === "commit") return result;
    const size = Math.min(pageSize, Number(per_page));
    const first = (Number(page) - 1) * size;
    const { validators, total } = result as ValidatorsAnswer;
    return { total, validators: validators.slice(first, first + size) };
  };
  const { close } = await startAnswering(answer, path);
  return {
    path,
    async close() {
      await close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A node with the recorded blocks, none of which has transactions. */
export function startRecordedNode(): Promise<AnsweringServer> {
  const { blocks, commit, validators } = RECORDED;
  return startAnsweringUrl((method, [at]: readonly [string]) => {
    switch (method) {
      case "eth_chainId":
        return "0x2328";
      case "eth_getBlockByNumber":
        return blocks[Number(at)] ?? null;
      case "eth_getBlockByHash":
        return Object.values(blocks).find(({ hash }) => hash === at) ?? null;
      case "eth_getBlockReceipts":
        return [];
      case "clique_getLightBlock": {
        const height = Number(at) + 1;
        return lightBlockOf(commit[height]!, validators[height]!.validators);
      }
      default:
        throw new Error(`${method} is not recorded`);
    }
  });
}
