import { hostPort } from "../../config/value-types.ts";
import { startExplorerServer } from "../../pages/explorer-server.ts";
import { readPageTable } from "../../pages/page-table.ts";
import type { CliContext } from "../context.ts";
import { CommandError, UsageError } from "../errors.ts";

export type ExplorerOptions = {
  readonly rpc: string;
  readonly address?: string;
};

const DEFAULT_ADDRESS = "127.0.0.1:8550";

/**
 * Serves the explorer beside the node at a URL until a signal asks it to stop.
 * @throws UsageError, CommandError, and what listening throws
 */
export async function explorer(
  { rpc, address = DEFAULT_ADDRESS }: ExplorerOptions,
  context: CliContext,
): Promise<void> {
  if (!URL.canParse(rpc) || !/^https?:$/.test(new URL(rpc).protocol)) {
    throw new UsageError(`--rpc: an HTTP URL such as http://127.0.0.1:8545, not ${rpc}`);
  }
  const listen = hostPort.parse(address);
  if (listen === undefined) throw new UsageError(`--address: ${hostPort.expects}, not ${address}`);
  const pages = readPageTable(["explorer"]);
  if (pages === undefined) throw new CommandError("the pages are not built: run npm run build");
  const onError = (error: unknown) => {
    const { message, cause } = error as Error;
    context.stderr.write(`evmintd: ${cause instanceof Error ? cause.message : message}\n`);
  };
  const server = await startExplorerServer({ ...listen, rpcUrl: rpc, pages, onError });
  context.stdout.write(`${server.url}\n`);
  await new Promise<void>((resolve) => {
    const stop = context.onSignal(() => {
      stop();
      resolve();
    });
  });
  await server.close();
}
