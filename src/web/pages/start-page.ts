import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { type AnswerPage, PAGE_HEADERS } from "./answer-page.ts";

/** What the first page of a node leads to. */
export type StartPageOptions = {
  readonly isDev: boolean;
  readonly chainId: bigint;
};

const STYLE = `:root{color-scheme:light dark}
body{max-width:46rem;margin:3rem auto;padding:0 1rem;font:15px/1.6 system-ui,sans-serif}
h1{font-size:1.4rem}dt{margin-top:.8rem;font-weight:600}dd{margin:0}
code,pre{font:13px ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere;white-space:pre-wrap}`;

/** The page has no script, and no other style than its own. */
const HEADERS = {
  ...PAGE_HEADERS,
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-cache",
  "content-type": "text/html; charset=utf-8",
};

/** Pages of other explorers, whose addresses wallets make of `/explorer`, tools print and people type. */
const LINK =
  /^(?:\/explorer)?(\/(?:address\/0x[0-9a-fA-F]{40}|token\/0x[0-9a-fA-F]{40}|tx\/0x[0-9a-fA-F]{64}|block\/\d{1,15}))$/;

/** Leads addresses such as `/tx/0x…` to the explorer's pages; false for any other request. */
export const answerExplorerLink: AnswerPage = ({ method, url = "" }, response) => {
  if (method !== "GET" && method !== "HEAD") return false;
  const route = LINK.exec(pathOf(url))?.[1];
  if (route === undefined) return false;
  response.writeHead(302, { location: `/explorer/#${route}`, "content-length": 0 }).end();
  return true;
};

/**
 * Answers a browser at `/` with a page that says what is here, and links to the explorer; false for any other request: a balancer that probes `/`
 * gets the empty answer that it always got.
 */
export function createStartPage(options: StartPageOptions): AnswerPage {
  return (request, response) => {
    const { method, url = "" } = request;
    if (answerExplorerLink(request, response)) return true;
    if (method !== "GET" && method !== "HEAD") return false;
    if (pathOf(url) !== "/" || !(request.headers.accept ?? "").includes("text/html")) return false;
    sendPage(request, response, renderStartPage(originOf(request), options));
    return true;
  };
}

function pathOf(url: string): string {
  return url.split("?", 1)[0]!;
}

function sendPage(request: IncomingMessage, response: ServerResponse, text: string): void {
  response.appendHeader("vary", "accept");
  response.writeHead(200, { ...HEADERS, "content-length": Buffer.byteLength(text) });
  response.end(request.method === "HEAD" ? undefined : text);
}

/** As the browser sent it. The Host header was checked, but is still untrusted text. */
function originOf({ headers, socket }: IncomingMessage): string {
  const scheme = (socket as Partial<TLSSocket>).encrypted ? "https" : "http";
  return `${scheme}://${headers.host ?? "localhost"}`;
}

function renderStartPage(origin: string, { isDev, chainId }: StartPageOptions): string {
  const url = escaped(origin);
  const title = isDev ? "Evmint dev chain" : "Evmint node";
  const call = `curl -H 'content-type: application/json' ${url} \\
  -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`;
  const verify = `forge verify-contract --verifier blockscout --verifier-url ${url}/api/ --rpc-url ${url} ADDRESS CONTRACT`;
  const rows = [
    ["RPC URL, for wallets and programs", `<code>${url}</code>`],
    ["Chain id", `<code>${chainId}</code>`],
    ["Explorer", `<a href="/explorer/">${url}/explorer/</a>: blocks, transactions, contracts, checked in the browser`],
    ...(isDev
      ? [["Dev chain by hand", '<a href="/explorer/#/dev">accounts, faucet, blocks, time, snapshots</a>']]
      : []),
    ["Documentation", `<a href="/docs/">${url}/docs/</a>`],
    ["Methods, for programs", '<a href="/openrpc.json">/openrpc.json</a>'],
    ["A call", `<pre>${call}</pre>`],
    ["Verify a contract", `<pre>${verify}</pre>`],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<dl>
${rows.map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join("\n")}
</dl>
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
