import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../../src/web/explorer/verify/verdict.ts";

type Answer = { readonly id: number; readonly result?: unknown; readonly error?: unknown };

/** Changes the result of one method. */
export type Lie = {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a node answers
  readonly change: (result: any) => unknown;
};

export type LyingProxy = {
  readonly url: string;
  /** undefined: honest */
  answerWith(lie: Lie | undefined): void;
  close(): Promise<void>;
};

/** A node that answers as the one at `target` does, but for one lie. It serves the pages of the node at `pages`. */
export async function startLyingProxy(target: string, pages = target): Promise<LyingProxy> {
  let lie: Lie | undefined;
  const server = createServer((request, response) => {
    void answer(request).then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(body);
    });
  });
  async function answer(request: IncomingMessage) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = "GET", url = "/" } = request;
    const reply = await fetch(new URL(url, method === "POST" ? target : pages), {
      method,
      ...(method === "POST" && { body, headers: { "content-type": "application/json" } }),
    });
    const headers = Object.fromEntries(
      [...reply.headers].filter(([name]) => !/^content-(encoding|length)|^transfer/.test(name)),
    );
    const bytes = Buffer.from(await reply.arrayBuffer());
    const changed = method === "POST" && lie ? changedAnswer(body, bytes.toString(), lie) : bytes;
    return { status: reply.status, headers, body: changed };
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith(next) {
      lie = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function changedAnswer(calls: string, answers: string, { method, change }: Lie): string {
  const asked = [JSON.parse(calls) as Json].flat();
  const honest = [JSON.parse(answers) as Answer].flat();
  const methodOf = new Map(asked.map((each) => [each["id"], each["method"]]));
  const changed = honest.map((each) =>
    methodOf.get(each.id) === method && each.result !== undefined ? { ...each, result: change(each.result) } : each,
  );
  return JSON.stringify(calls.trimStart().startsWith("[") ? changed : changed[0]);
}
