import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import { parseRemoteUrl } from "../../base/telemetry/remote-url.ts";
import { isLoopback } from "../../node/config/dangers.ts";
import { hostPort } from "../../node/config/value-types.ts";
import { readPageTable } from "../../web/pages/answer-page.ts";
import { startExplorerServer } from "../../web/pages/explorer-server.ts";
import type { CliContext } from "../context.ts";
import { CommandError, UsageError } from "../errors.ts";

export type ExplorerOptions = {
  readonly rpc: string;
  readonly address?: string;
};

const DEFAULT_ADDRESS = "127.0.0.1:8550";

const PUBLIC_WARNING =
  "warning: the explorer accepts other machines, so anyone who can reach it reads through your node; put it behind a proxy with TLS and rate limits\n";

/**
 * Serves the explorer beside the node at a URL until a signal asks it to stop.
 * @throws UsageError, CommandError, and what listening throws
 */
export async function explorer(
  { rpc, address = DEFAULT_ADDRESS }: ExplorerOptions,
  context: CliContext,
): Promise<void> {
  const remote = parseRemoteUrl(rpc, ["http", "https"]);
  // Not repeated: it may have a password.
  if (remote === undefined) throw new UsageError("--rpc takes an HTTP URL such as http://127.0.0.1:8545");
  const listen = hostPort.parse(address);
  if (listen === undefined) throw new UsageError(`--address: ${hostPort.expects}, not ${address}`);
  const pages = readPageTable(["explorer"]);
  if (pages === undefined) throw new CommandError("the explorer is not built: run npm run build");
  const onError = (error: unknown) => {
    const { message, cause } = error as Error;
    const text = cause instanceof Error ? cause.message : message;
    context.stderr.write(`evmintd: ${remote.origin}: ${escapeControls(text)}\n`);
  };
  if (!isLoopback(listen.host)) context.stderr.write(PUBLIC_WARNING);
  const server = await startExplorerServer({ ...listen, remote, pages, onError });
  context.stdout.write(`${server.url}\n`);
  await new Promise<void>((resolve) => {
    const stop = context.onSignal(() => {
      stop();
      resolve();
    });
  });
  await server.close();
}
