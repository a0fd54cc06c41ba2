import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { BrowserModule } from "./build.ts";
import type { Answer, Call } from "./transcript.ts";

/** For the page with a node: scripts of its own origin, and WebAssembly. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/** The tests' loader names functions with a helper that code in the page lacks. */
const START = 'window.evmint = import("/index.js"); window.__name = (value) => value;';

/** Serves `folder` under the policy, and a page that has the module as `evmint`. */
export async function servePages(folder: string) {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://page").pathname;
    const isPage = path === "/";
    const type = isPage ? "text/html" : "text/javascript";
    response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
    if (isPage) response.end('<!doctype html><title>tab</title><script type="module" src="/start"></script>');
    else if (path === "/start") response.end(START);
    else response.end(readFileSync(join(folder, path)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type NodeOptions = Omit<NonNullable<Parameters<BrowserModule["createNode"]>[0]>, "log" | "files">;
type PageGlobals = {
  evmint: Promise<BrowserModule>;
  node: Awaited<ReturnType<BrowserModule["createNode"]>>;
};

/** Starts a node in the page, which is `node` there. Rejects with the code of the error. */
export async function startNode(
  page: Page,
  options: NodeOptions = {},
  files?: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const texts = files && Array.from(files, ([path, bytes]) => [path, Buffer.from(bytes).toString("latin1")]);
  const failure = await page.evaluate(
    async ({ options, texts }) => {
      const scope = globalThis as unknown as PageGlobals;
      const { createNode } = await scope.evmint;
      const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
      const files = texts && new Map(texts.map(([path, text]) => [path!, bytesOf(text!)]));
      try {
        scope.node = await createNode({ ...options, files });
        return undefined;
      } catch (error) {
        const { code, stack } = error as { code?: string; stack: string };
        return { code, stack };
      }
    },
    { options, texts },
  );
  if (failure) throw Object.assign(new Error(`no node: ${failure.stack}`), { code: failure.code });
}

/** Sends transfers one after the other, each when the receipt of the one before is there; milliseconds of all. */
export function transfer(page: Page, count: number): Promise<number> {
  return page.evaluate(async (transfers) => {
    const { rpc, accounts } = (globalThis as unknown as PageGlobals).node;
    const from = accounts[0]!.address;
    const to = accounts[1]!.address;
    const start = performance.now();
    for (let i = 0; i < transfers; i++) {
      const hash = await rpc.eth_sendTransaction({ from, to, value: "0x1" });
      if ((await rpc.eth_getTransactionReceipt(hash)) === null) throw new Error(`no receipt of ${hash}`);
    }
    return performance.now() - start;
  }, count);
}

/** Sends transfers without end, and logs the number of each block when its receipt is there. */
export async function sendForEver(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const { rpc, accounts } = (globalThis as unknown as PageGlobals).node;
    const from = accounts[0]!.address;
    const to = accounts[1]!.address;
    const send = async () => {
      const hash = await rpc.eth_sendTransaction({ from, to, value: "0x1" });
      const receipt = await rpc.eth_getTransactionReceipt(hash);
      console.log(Number(receipt?.blockNumber));
      void send();
    };
    void send();
  });
}

/** A provider in this process over the node of the page. */
export function providerOf(page: Page) {
  return {
    async request(call: Call): Promise<unknown> {
      const answer: Answer = await page.evaluate(async (asked) => {
        try {
          const { node } = globalThis as unknown as PageGlobals;
          return { result: await node.provider.request(asked) };
        } catch (error) {
          const { code, message, data } = error as {
            code: number;
            message: string;
            data?: unknown;
          };
          return { error: { code, message, data } };
        }
      }, call);
      if ("result" in answer) return answer.result;
      throw Object.assign(new Error(answer.error.message), answer.error);
    },
  };
}

/** Calls a method of the page's node that takes and gives bytes, as Latin-1. */
export async function exportChain(page: Page): Promise<Uint8Array> {
  const text = await page.evaluate(async () => {
    const bytes = await (globalThis as unknown as PageGlobals).node.exportChain();
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  });
  return Buffer.from(text, "latin1");
}

export async function importChain(page: Page, file: Uint8Array): Promise<void> {
  await page.evaluate(async (text) => {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    await (globalThis as unknown as PageGlobals).node.importChain(bytes);
  }, Buffer.from(file).toString("latin1"));
}

/** The files of the home, by their path in it. */
export async function exportHome(page: Page): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await page.evaluate(async () => {
    const files = await (globalThis as unknown as PageGlobals).node.exportHome();
    return Array.from(files, ([path, bytes]): [string, string] => [
      path,
      Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""),
    ]);
  });
  return new Map(entries.map(([path, text]) => [path, Buffer.from(text, "latin1")]));
}
