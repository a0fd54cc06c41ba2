import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signJwt } from "../../src/rpc/transport/auth/jwt.ts";
import { freePort } from "../support/free-port.ts";

export type Geth = { readonly url: string; stop(): Promise<void> };

const GETH = process.env["GETH"] ?? "geth";

/** `Geth 1.17.10-stable`, or undefined where geth is not installed. */
export function gethVersion(): string | undefined {
  const { status, stdout } = spawnSync(GETH, ["version"], { encoding: "utf8" });
  if (status !== 0) return undefined;
  return `Geth ${/Version: (\S+)/.exec(stdout)?.[1] ?? "unknown"}`;
}

/** A geth on loopback with its own folder, which has imported the chain file and treats its last block as final. */
export async function startGeth(options: { readonly genesisFile: string; readonly chainFile: string }): Promise<Geth> {
  const home = mkdtempSync(join(tmpdir(), "evmint-geth-"));
  const jwtFile = join(home, "jwt.hex");
  const secret = randomBytes(32);
  writeFileSync(jwtFile, secret.toString("hex"));
  const quiet = ["--datadir", home, "--verbosity", "1"];
  // With the preimages of hashes, so that dumps show addresses.
  const archive = ["--cache.preimages", "--gcmode", "archive", "--history.transactions", "0"];
  const run = (...args: string[]) => execFileSync(GETH, [...quiet, ...args], { stdio: "pipe" });
  try {
    run("--cache.preimages", "--state.scheme", "hash", "init", options.genesisFile);
    run(...archive, "import", options.chainFile);
    const [port, authPort] = [await freePort(), await freePort()];
    const child = spawn(
      GETH,
      [
        ...quiet,
        ...archive,
        "--syncmode",
        "full",
        "--ipcdisable",
        "--nat",
        "none",
        "--nodiscover",
        "--maxpeers",
        "0",
        "--port",
        "0",
        "--http",
        "--http.port",
        `${port}`,
        "--http.api",
        "eth,net,web3,debug,txpool,admin",
        "--authrpc.port",
        `${authPort}`,
        "--authrpc.jwtsecret",
        jwtFile,
      ],
      // Its trace files are below the folder that is removed at the end.
      { stdio: "ignore", env: { ...process.env, TMPDIR: home } },
    );
    const url = `http://127.0.0.1:${port}`;
    await untilAnswers(url, child);
    await finalizeHead(url, `http://127.0.0.1:${authPort}`, secret);
    return {
      url,
      async stop() {
        const exited = new Promise((resolve) => child.once("exit", resolve));
        child.kill();
        await exited;
        rmSync(home, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

/** One JSON-RPC request over HTTP. */
export async function send(
  url: string,
  method: string,
  params: readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly result?: unknown; readonly error?: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await response.json()) as { result?: unknown; error?: unknown };
}

async function untilAnswers(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 150; tries++) {
    if (child.exitCode !== null) break;
    try {
      await send(url, "eth_chainId", []);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  child.kill();
  throw new Error("geth does not answer");
}

/** What a consensus client says after each block: without it geth has no `safe` and `finalized`. */
async function finalizeHead(url: string, authUrl: string, secret: Uint8Array): Promise<void> {
  const { result } = await send(url, "eth_getBlockByNumber", ["latest", false]);
  const { hash } = result as { hash: string };
  const token = signJwt({ iat: Math.floor(Date.now() / 1000) }, secret);
  const state = { headBlockHash: hash, safeBlockHash: hash, finalizedBlockHash: hash };
  const { error } = await send(authUrl, "engine_forkchoiceUpdatedV3", [state, null], {
    authorization: `Bearer ${token}`,
  });
  if (error) throw new Error(`geth does not take the head: ${JSON.stringify(error)}`);
}
