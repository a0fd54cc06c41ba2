import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { WebSocket } from "ws";
import { clientIdOf } from "../../src/heritage/les/client-id.ts";
import { type Certificate, makeCertificate, NO_OPENSSL } from "../support/certificates.ts";
import { request } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { WITH_METRICS } from "../support/metrics.ts";
import type { TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-tls-clients-"));
after(() => rmSync(folder, { recursive: true }));
const make = (name: string, issuer?: Certificate) =>
  NO_OPENSSL ? { cert: "", key: "" } : makeCertificate(folder, name, issuer);
const first = make("first");
const second = make("second");
const bank = make("bank");
const fund = make("fund");
const [shop, desk] = [make("shop", bank), make("desk", fund)];
const selfMade = make("self-made");

/** Where the node under test looks. */
const live = { cert: join(folder, "live.pem"), key: join(folder, "live.key.pem"), ca: join(folder, "live-ca.pem") };
function serve({ cert, key }: Certificate): void {
  copyFileSync(cert, live.cert);
  copyFileSync(key, live.key);
}

/** What a client shows. */
function shown(of: Certificate | undefined): ConnectionOptions {
  return { rejectUnauthorized: false, ...(of && { cert: readFileSync(of.cert), key: readFileSync(of.key) }) };
}

function call(url: string, body: string, options: ConnectionOptions, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const sent = httpsRequest(url, { method: "POST", headers, agent: agent ?? false, ...options });
    sent.once("error", reject);
    sent.once("response", (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    });
    sent.end(body);
  });
}

function openWs(url: string, of: Certificate | undefined): Promise<WebSocket> {
  const ws = new WebSocket(url, shown(of) as object);
  return new Promise((resolve, reject) => ws.once("open", () => resolve(ws)).once("error", reject));
}

async function ask(ws: WebSocket): Promise<string> {
  const answer = new Promise<string>((resolve) => ws.once("message", (message) => resolve(message.toString())));
  ws.send(request("eth_chainId"));
  return answer;
}

/** A connection after its first answer, which comes after the ticket of its session. */
async function connected(url: string, options: ConnectionOptions): Promise<{ socket: TLSSocket; session: Buffer }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...options });
  let session: Buffer | undefined;
  socket.on("session", (ticket) => {
    session = ticket;
  });
  const answered = new Promise<void>((resolve, reject) => {
    socket.once("data", () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
  });
  const body = request("eth_chainId");
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
  socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  await answered;
  return { socket, session: session! };
}

/** The serial number of the certificate that a new connection gets. */
async function serialAt(url: string): Promise<string> {
  const { hostname, port } = new URL(url.replace("wss:", "https:"));
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

const isServed = async (attempt: Promise<unknown>) =>
  attempt.then(
    () => true,
    () => false,
  );

for (const processes of ["0", "1"]) {
  const skip = NO_OPENSSL;
  describe(`TLS of new files${processes === "0" ? "" : " where an RPC process serves"}`, { skip }, () => {
    let node: TestNode | undefined;
    after(() => node?.stop());

    test("a replaced certificate is that of new connections; open ones go on", async () => {
      serve(first);
      const settings = { "tls.cert": live.cert, "tls.key": live.key, "json-rpc.processes": processes, ...WITH_METRICS };
      node = await startConfiguredNode({ settings });
      const { url, wsUrl } = node;
      const metrics = node.node.listeners.find(({ kind }) => kind === "metrics")!.url;
      const expiry = async () => /^evmint_tls_cert\S+ (\d+)$/m.exec(await (await fetch(metrics)).text())?.[1];
      const before = [await serialAt(url), await serialAt(wsUrl)];
      assert.equal(before[0], before[1]);
      assert.ok((await expiry()) !== undefined);
      const ws = await openWs(wsUrl, undefined);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await call(url, request("eth_chainId"), shown(undefined), agent);
      const [[socket]] = Object.values(agent.freeSockets) as [[TLSSocket]];

      serve(second);
      await until(
        async () => (await serialAt(url)) !== before[0] && (await serialAt(wsUrl)) !== before[1],
        "the new certificate",
      );
      assert.equal(await serialAt(url), await serialAt(wsUrl));
      assert.match(await ask(ws), /"0x2328"/);
      assert.match(await call(url, request("eth_chainId"), shown(undefined), agent), /"0x2328"/);
      assert.equal(Object.values(agent.freeSockets)[0]![0], socket);
      ws.terminate();
      agent.destroy();
    });
  });

  describe(`tls.client-ca${processes === "0" ? "" : " where an RPC process serves"}`, { skip }, () => {
    let node: TestNode | undefined;
    after(() => node?.stop());

    test("clients without a certificate that one of the bundle signed are not served, on either port", async () => {
      serve(first);
      copyFileSync(bank.cert, live.ca);
      const files = { "tls.cert": live.cert, "tls.key": live.key, "tls.client-ca": live.ca };
      const settings = { ...files, "json-rpc.processes": processes, "json-rpc.api": "eth,les", "les.serve": "50" };
      node = await startConfiguredNode({ settings });
      const { url, wsUrl } = node;
      const body = request("eth_chainId");
      for (const stranger of [undefined, desk, selfMade]) {
        await assert.rejects(call(url, body, shown(stranger)));
        for (const at of [wsUrl, url.replace("https", "wss")]) await assert.rejects(openWs(at, stranger));
      }
      assert.match(await call(url, body, shown(shop)), /"0x2328"/);
      for (const at of [wsUrl, url.replace("https", "wss")]) {
        const ws = await openWs(at, shop);
        assert.match(await ask(ws), /"0x2328"/);
        ws.terminate();
      }
    });

    test("the common name of the certificate is whom calls are charged to", async () => {
      const isConnected = async (id: string) => {
        const params = [[id]];
        const info = (await node!.node.provider.request({ method: "les_clientInfo", params })) as Record<
          string,
          object
        >;
        return (info[id] as { readonly isConnected?: boolean } | undefined)?.isConnected;
      };
      assert.equal(await isConnected(clientIdOf("key", "shop")), true);
      assert.equal(await isConnected(clientIdOf("ip", "127.0.0.1")), false);
    });

    test("a bundle that changes counts for new connections, also for sessions of clients that it had", async () => {
      const { url } = node!;
      const { socket, session } = await connected(url, { ...shown(shop), maxVersion: "TLSv1.2" });
      // The session alone shows that client's certificate here.
      const resumed = () => connected(url, { rejectUnauthorized: false, session, maxVersion: "TLSv1.2" });
      const again = await resumed();
      assert.equal(again.socket.isSessionReused(), true);
      again.socket.destroy();
      copyFileSync(fund.cert, live.ca);
      await until(() => isServed(call(url, request("eth_chainId"), shown(desk))), "the new client");
      await assert.rejects(call(url, request("eth_chainId"), shown(shop)));
      await assert.rejects(resumed());
      assert.equal(socket.destroyed, false);
      socket.destroy();
      writeFileSync(live.ca, readFileSync(bank.cert, "utf8") + readFileSync(fund.cert, "utf8"));
      await until(() => isServed(call(url, request("eth_chainId"), shown(shop))), "the old client");
      assert.match(await call(url, request("eth_chainId"), shown(desk)), /"0x2328"/);
    });
  });
}
