import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect } from "node:tls";
import { WebSocket } from "ws";
import { runCli } from "../../src/cli/program.ts";
import { makeCertificate, NO_OPENSSL } from "../support/certificates.ts";
import { fakeContext } from "../support/cli/fake-context.ts";
import { request } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { WITH_METRICS } from "../support/metrics.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-tls-"));
const { cert, key } = NO_OPENSSL ? { cert: "", key: "" } : makeCertificate(folder, "localhost");
const skip = NO_OPENSSL;
after(() => rmSync(folder, { recursive: true }));

test("with tls.cert and tls.key HTTP and WebSocket speak TLS 1.2 or later, and nothing else", {
  skip,
}, async () => {
  const node = await startConfiguredNode({ settings: { "tls.cert": cert, "tls.key": key } });
  try {
    assert.match(node.url, /^https:/);
    assert.match(node.wsUrl, /^wss:/);
    assert.equal(JSON.parse(await post(node.url, request("eth_chainId"))).result, "0x2328");
    for (const url of [node.wsUrl, node.url.replace("https", "wss")]) {
      const ws = new WebSocket(url, { rejectUnauthorized: false });
      await new Promise((resolve, reject) => ws.once("open", resolve).once("error", reject));
      const answer = new Promise<string>((resolve) => ws.once("message", (message) => resolve(message.toString())));
      ws.send(request("eth_chainId"));
      assert.equal(JSON.parse(await answer).result, "0x2328");
      ws.terminate();
    }
    await assert.rejects(handshake(node.url, "TLSv1.1"));
    assert.match(await handshake(node.url, "TLSv1.3"), /^TLSv1\.3$/);
    await assert.rejects(fetch(node.url.replace("https", "http"), { method: "POST" }));
    const { context, output } = fakeContext();
    const address = ["--json-rpc.enable", "--json-rpc.address", node.url.replace("https://", "")];
    const args = ["ready", "--home", node.home, "--ipc.path", "", ...address];
    assert.equal(await runCli([...args, "--tls.cert", cert, "--tls.key", key], context), 0, output.stderr);
    assert.equal(await runCli(args, context), 1);
  } finally {
    await node.stop();
  }
});

/** What a client sends before it falls silent. */
const UNFINISHED_HANDSHAKES: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  // A record of a handshake with 256 bytes to come, of which one comes.
  "half a ClientHello": Buffer.from("160301010001", "hex"),
};

for (const [what, bytes] of Object.entries(UNFINISHED_HANDSHAKES)) {
  test(`a connection whose TLS handshake ends with ${what} is closed on every port`, { skip }, async () => {
    const settings = { "tls.cert": cert, "tls.key": key };
    const node = await startConfiguredNode({ settings, limits: { server: { httpHeadersTimeoutMs: 200 } } });
    try {
      for (const url of [node.url, node.wsUrl]) {
        const { hostname, port } = new URL(url);
        const socket = connectTcp(Number(port), hostname);
        const closed = new Promise((resolve) => socket.on("error", resolve).once("close", resolve));
        socket.resume().write(bytes);
        await closed;
      }
      // On a busy machine a client can be late itself.
      const answer = () => post(node.url, request("eth_chainId")).catch(() => "");
      assert.equal(JSON.parse(await until(answer, "an answer beside them")).result, "0x2328");
    } finally {
      await node.stop();
    }
  });
}

test("metrics say when the certificate ends", { skip }, async () => {
  const settings = { "tls.cert": cert, "tls.key": key, ...WITH_METRICS };
  const node = await startConfiguredNode({ settings });
  try {
    const { url } = node.node.listeners.find(({ kind }) => kind === "metrics")!;
    const line = /^evmint_tls_certificate_expiry_timestamp_seconds (\d+)$/m.exec(await (await fetch(url)).text());
    const days = (Number(line?.[1]) - Date.now() / 1_000) / 86_400;
    assert.ok(days > 1.9 && days <= 2, String(days));
  } finally {
    await node.stop();
  }
});

test("over TLS pipelined calls wait unparsed", { skip }, async () => {
  const count = 2000;
  // Parsed, all of one record of TLS would take 400 KB.
  const settings = { "tls.cert": cert, "tls.key": key };
  const limits = { server: { inputBytesMax: 128_000 } };
  const node = await startConfiguredNode({ settings, limits });
  try {
    const { hostname, port } = new URL(node.url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    const body = request("eth_chainId");
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`.repeat(count));
    let text = "";
    for await (const chunk of socket) {
      text += chunk;
      if (text.split('"result":"0x2328"').length > count) break;
    }
    assert.equal(text.split('"result":"0x2328"').length, count + 1);
  } finally {
    await node.stop();
  }
});

test("a certificate without its key, or one that is not there, stops the start", {
  skip,
}, async () => {
  await assert.rejects(startConfiguredNode({ settings: { "tls.cert": cert } }), {
    code: "CONFIG_INVALID",
  });
  await assert.rejects(startConfiguredNode({ settings: { "tls.cert": join(folder, "none"), "tls.key": key } }), {
    code: "CONFIG_INVALID",
  });
});

function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const sent = httpsRequest(url, { method: "POST", headers, rejectUnauthorized: false });
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

/** The protocol agreed on when the client offers `version` alone. */
function handshake(url: string, version: "TLSv1.1" | "TLSv1.3"): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        host: hostname,
        port: Number(port),
        rejectUnauthorized: false,
        minVersion: version,
        maxVersion: version,
      },
      () => {
        resolve(socket.getProtocol() ?? "");
        socket.destroy();
      },
    );
    socket.once("error", reject);
  });
}
